// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace ringweave::detail::inline io {

/// A checksum of bytes in their order, as fast as memory: eight sums, each of every eighth word. It
/// finds damage; it does not withstand intent.
class ByteDigest {
 public:
  /// Adds bytes. All but the last call add a multiple of 64.
  void add(std::span<const std::byte> bytes) {
    while (bytes.size() >= block) {
      for (std::size_t i = 0; i < sums_.size(); ++i) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + i * sizeof word, sizeof word);
        sums_[i] = (sums_[i] ^ word) * factor;
        sums_[i] ^= sums_[i] >> 29;
      }
      bytes = bytes.subspan(block);
    }
    if (bytes.empty()) return;
    std::array<std::byte, block> last{};
    std::memcpy(last.data(), bytes.data(), bytes.size());
    last.back() = static_cast<std::byte>(bytes.size());
    add(last);
  }

  std::uint64_t value() const {
    std::uint64_t all = 0;
    for (const std::uint64_t sum : sums_) all = (all ^ sum ^ (all >> 31)) * factor;
    return all ^ (all >> 32);
  }

 private:
  static constexpr std::size_t block = 64;
  static constexpr std::uint64_t factor = 0x9e3779b97f4a7c15u;
  std::array<std::uint64_t, 8> sums_{1, 2, 3, 4, 5, 6, 7, 8};
};

}  // namespace ringweave::detail::inline io
