// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string>

#include "io/fits/file.hpp"

namespace ringweave::detail::inline io {

/// Returns a sum of 32-bit words with every carry added at its other end.
/// From   FITS standard 4.0, appendix J
inline std::uint32_t ones_complement(std::uint64_t sum) {
  while (sum >> 32 != 0) sum = (sum & 0xffffffff) + (sum >> 32);
  return static_cast<std::uint32_t>(sum);
}

/// Returns the sum of the words of numbers that are stored as `Stored`, of 4 or 8 bytes. The sums
/// of parts of the data can be added in any order.
template <class Stored, class T>
std::uint32_t sum_of_words(std::span<const T> values) {
  static_assert(sizeof(Stored) == 4 || sizeof(Stored) == 8);
  std::uint64_t sum = 0;
  for (const T value : values) {
    if constexpr (sizeof(Stored) == 4) {
      sum += std::bit_cast<std::uint32_t>(static_cast<Stored>(value));
    } else {
      const auto bits = std::bit_cast<std::uint64_t>(static_cast<Stored>(value));
      sum += (bits >> 32) + (bits & 0xffffffff);
    }
  }
  return ones_complement(sum);
}

/// Writes CHECKSUM and DATASUM without their values, before the data, so that the header has room.
void reserve_checksum(const FitsFile& file);

/// Gives CHECKSUM and DATASUM of the current HDU their values. Its header must not change then.
void put_checksum(const FitsFile& file, std::uint32_t data_sum);

/// Bytes of an HDU, [begin, end), and the sum of its data as they were handed over.
struct WrittenHdu {
  std::int64_t begin = 0;
  std::int64_t data_begin = 0;
  std::int64_t end = 0;
  std::uint32_t data_sum = 0;
};

/// Reads a closed file again: its data must have their sums, every HDU must agree with its
/// CHECKSUM, and the file must end with the last one. cfitsio loses the errors of some writes, and
/// the data with them. Not collective. Error  ResourceError naming the HDU.
void verify_checksums(const std::string& path, std::span<const WrittenHdu> hdus);

}  // namespace ringweave::detail::inline io
