// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "ringweave/views.hpp"

namespace ringweave::detail::inline base {

/// Ring modes, complex double: [position][component], positions given by a ModeLayout.
template <class T = double, MemorySpace Space = MemorySpace::host>
using ModeView = View<ComplexOf<T>, Space>;

/// Ring modes in two pieces of memory: positions begin in the first and continue in the second,
/// which may be empty. No segment of a ModeLayout lies in both.
template <class T>
class ModePieces {
 public:
  using Value = ComplexOf<T>;

  template <class U>
  ModePieces(View<U> all) : ModePieces(all, {}) {}
  ModePieces() : ModePieces(ModeView<T>(), {}) {}
  ModePieces(ModeView<T> first, ModeView<T> second) : first_(first), second_(second) {}
  operator ModePieces<const T>() const { return {first_, second_}; }

  ModeView<T> first() const { return first_; }
  ModeView<T> second() const { return second_; }
  std::int64_t size() const { return first_.size() + second_.size(); }
  /// Element i, and those behind it in its piece.
  Value* at(std::int64_t i) const {
    return i < first_.size() ? first_.data() + i : second_.data() + (i - first_.size());
  }

 private:
  ModeView<T> first_;
  ModeView<T> second_;
};

}  // namespace ringweave::detail::inline base
