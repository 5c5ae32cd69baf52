// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace ringweave {

/// Cuts scratch into arrays that begin on cache lines. Without memory it only counts what they
/// take. Nothing in them lasts: who uses the same scratch by turns places its arrays anew.
class ScratchArena {
 public:
  /// memory  aligned to 64 bytes; null: count
  explicit ScratchArena(double* memory = nullptr) : memory_(memory) {}

  template <class T>
  T* take(std::int64_t n) {
    constexpr std::int64_t double_bytes = sizeof(double);
    const std::int64_t bytes = n * static_cast<std::int64_t>(sizeof(T));
    const std::int64_t doubles = (bytes + double_bytes - 1) / double_bytes;
    const std::int64_t unit = doubles < 8 * page ? line : page;
    const std::int64_t begin = (size_ + unit - 1) / unit * unit;
    size_ = begin + doubles;
    return memory_ == nullptr ? nullptr : reinterpret_cast<T*>(memory_ + begin);
  }
  std::int64_t size() const { return size_; }  ///< doubles taken so far

 private:
  static constexpr std::int64_t line = 8;  // doubles
  // Large arrays lie whole pages apart, as allocations of their own do: a little more than that
  // makes loads from one look like what was just stored to the other.
  static constexpr std::int64_t page = 512;

  double* memory_;
  std::int64_t size_ = 0;
};

}  // namespace ringweave
