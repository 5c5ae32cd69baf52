// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/byte_digest.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ringweave::detail {
namespace {

std::uint64_t digest_of(std::span<const std::byte> bytes) {
  ByteDigest digest;
  digest.add(bytes);
  return digest.value();
}

std::vector<std::byte> some_bytes(std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i * i + 3);
  return bytes;
}

TEST(ByteDigest, TellsEveryBitAndTheLength) {
  for (const std::size_t count : {1u, 63u, 64u, 65u, 200u}) {
    std::vector<std::byte> bytes = some_bytes(count);
    const std::uint64_t whole = digest_of(bytes);
    for (std::size_t bit = 0; bit < 8 * count; ++bit) {
      bytes[bit / 8] ^= static_cast<std::byte>(1 << (bit % 8));
      EXPECT_NE(digest_of(bytes), whole) << count << " " << bit;
      bytes[bit / 8] ^= static_cast<std::byte>(1 << (bit % 8));
    }
    bytes.push_back(std::byte{0});
    EXPECT_NE(digest_of(bytes), whole) << count;
  }
}

TEST(ByteDigest, TellsTheOrderOfBlocks) {
  std::vector<std::byte> bytes = some_bytes(128);
  const std::uint64_t whole = digest_of(bytes);
  std::rotate(bytes.begin(), bytes.begin() + 64, bytes.end());
  EXPECT_NE(digest_of(bytes), whole);
}

TEST(ByteDigest, MayBeAddedInParts) {
  const std::vector<std::byte> bytes = some_bytes(1000);
  ByteDigest parts;
  parts.add(std::span(bytes).first(640));
  parts.add(std::span(bytes).subspan(640));
  EXPECT_EQ(parts.value(), digest_of(bytes));
}

}  // namespace
}  // namespace ringweave::detail
