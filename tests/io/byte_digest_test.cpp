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
    for (const std::size_t last : {std::size_t{0}, count}) {
      bytes.push_back(static_cast<std::byte>(last));
      EXPECT_NE(digest_of(bytes), whole) << count << " " << last;
      bytes.pop_back();
    }
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
  for (const std::size_t length : {1u, 5u, 63u, 64u, 65u, 130u, 640u}) {
    ByteDigest parts;
    for (std::size_t at = 0; at < bytes.size(); at += length) {
      parts.add({});
      parts.add(std::span(bytes).subspan(at, std::min(length, bytes.size() - at)));
    }
    EXPECT_EQ(parts.value(), digest_of(bytes)) << length;
  }
}

}  // namespace
}  // namespace ringweave::detail
