// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace ringweave::detail::inline io {

/// A checksum of bytes in their order and of their number, as fast as memory: eight sums, each of
/// every eighth word. It finds damage; it does not withstand intent.
class ByteDigest {
 public:
  /// Adds bytes. How they are cut into parts does not matter.
  void add(std::span<const std::byte> bytes) {
    n_bytes_ += bytes.size();
    if (n_held_ > 0) {
      const std::size_t count = std::min(bytes.size(), block - n_held_);
      hold(bytes.first(count));
      bytes = bytes.subspan(count);
      if (n_held_ < block) return;
      add_block(held_);
      n_held_ = 0;
    }
    for (; bytes.size() >= block; bytes = bytes.subspan(block)) add_block(bytes.first<block>());
    hold(bytes);
  }

  std::uint64_t value() const {
    ByteDigest all = *this;
    std::fill(all.held_.begin() + static_cast<std::ptrdiff_t>(n_held_), all.held_.end(),
              std::byte{0});
    if (n_held_ > 0) all.add_block(all.held_);
    std::uint64_t sum = n_bytes_;
    for (const std::uint64_t one : all.sums_) sum = (sum ^ one ^ (sum >> 31)) * factor;
    return sum ^ (sum >> 32);
  }

 private:
  static constexpr std::size_t block = 64;
  static constexpr std::uint64_t factor = 0x9e3779b97f4a7c15u;

  void add_block(std::span<const std::byte, block> bytes) {
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data() + i * sizeof word, sizeof word);
      sums_[i] = (sums_[i] ^ word) * factor;
      sums_[i] ^= sums_[i] >> 29;
    }
  }
  /// Keeps bytes for a block that is not full yet.
  void hold(std::span<const std::byte> bytes) {
    std::copy(bytes.begin(), bytes.end(), held_.begin() + static_cast<std::ptrdiff_t>(n_held_));
    n_held_ += bytes.size();
  }

  std::array<std::uint64_t, 8> sums_{1, 2, 3, 4, 5, 6, 7, 8};
  std::array<std::byte, block> held_{};  ///< the beginning of a block
  std::size_t n_held_ = 0;
  std::uint64_t n_bytes_ = 0;
};

}  // namespace ringweave::detail::inline io
