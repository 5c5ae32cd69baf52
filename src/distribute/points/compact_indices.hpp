// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <utility>
#include <variant>

#include "base/checked_cast.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline distribute {

/// An array of indices below a limit, of 4 bytes each up to 2^32, of 8 beyond.
class CompactIndices {
 public:
  /// Returns the bytes of so many.
  static std::int64_t bytes_of(std::int64_t size, std::int64_t limit) {
    return size * (is_short(limit) ? 4 : 8);
  }
  /// Drops the old contents and allocates memory again.
  void allocate(std::int64_t size, std::int64_t limit) {
    if (is_short(limit)) {
      indices_ = HostBuffer<std::uint32_t>(size);
    } else {
      indices_ = HostBuffer<std::int64_t>(size);
    }
  }
  /// Calls use(indices) with the array as a HostBuffer.
  template <class Use>
  void visit(Use&& use) {
    std::visit(std::forward<Use>(use), indices_);
  }
  template <class Use>
  void visit(Use&& use) const {
    std::visit(std::forward<Use>(use), indices_);
  }

  std::int64_t bytes() const {
    return std::visit([](const auto& indices) { return held_bytes(indices); }, indices_);
  }

 private:
  static bool is_short(std::int64_t limit) { return limit <= std::int64_t{1} << 32; }

  std::variant<HostBuffer<std::uint32_t>, HostBuffer<std::int64_t>> indices_;
};

}  // namespace ringweave::detail::inline distribute
