// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/chunked_copies.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "base/checked_cast.hpp"

namespace ringweave::detail {
namespace {

/// A device emulated on the host that copies as late as possible: only when somebody waits.
class LazyLink {
 public:
  using Staging = std::string;

  explicit LazyLink(int* most_under_way) : most_under_way_(most_under_way) {}
  Staging stage(std::int64_t bytes) const { return Staging(to_size(bytes), '?'); }
  void up(const char* from, char* to, std::int64_t bytes) { give(from, to, bytes); }
  void down(const char* from, char* to, std::int64_t bytes) { give(from, to, bytes); }
  void mark(int slot) { marks_[slot] = copies_.size(); }
  void wait(int slot) {
    for (; done_ < marks_[slot]; ++done_) copies_[done_]();
  }

 private:
  void give(const char* from, char* to, std::int64_t bytes) {
    copies_.push_back([=] { std::copy_n(from, bytes, to); });
    *most_under_way_ = std::max(*most_under_way_, static_cast<int>(copies_.size() - done_));
  }
  std::vector<std::function<void()>> copies_;
  std::size_t marks_[2] = {0, 0};
  std::size_t done_ = 0;
  int* most_under_way_;
};

std::string numbered(std::int64_t bytes) {
  std::string text(to_size(bytes), ' ');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>('a' + i * i % 23);
  return text;
}

TEST(ChunkedCopies, BytesArriveInBothDirectionsForAllSizes) {
  for (const std::int64_t bytes : {0, 1, 999, 1000, 1001, 2000, 5000, 12345, 100000}) {
    for (const std::int64_t chunk : {1000, 8192, 1 << 20}) {
      int under_way = 0;
      const std::string expected = numbered(bytes);
      std::string there(expected.size(), ' ');
      std::string back(expected.size(), ' ');
      {
        ChunkedCopies<LazyLink> copies(chunk, &under_way);
        std::string given = expected;
        copies.to_device(given.data(), there.data(), bytes);
        std::fill(given.begin(), given.end(), '!');
        copies.to_host(there.data(), back.data(), bytes);
        EXPECT_EQ(back, expected) << bytes << " bytes in chunks of " << chunk;
      }
      EXPECT_EQ(there, expected) << bytes << " bytes in chunks of " << chunk;
    }
  }
}

TEST(ChunkedCopies, TwoChunksAreUnderWayAtOnce) {
  int under_way = 0;
  const std::string expected = numbered(10000);
  std::string there(expected.size(), ' ');
  ChunkedCopies<LazyLink> copies(1000, &under_way);
  copies.to_device(expected.data(), there.data(), 10000);
  EXPECT_EQ(under_way, 2);
}

}  // namespace
}  // namespace ringweave::detail
