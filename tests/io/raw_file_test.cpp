// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/raw_file.hpp"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>

#include "io_support.hpp"

namespace ringweave::detail {
namespace {

using test::expect_error;

class RawFileTest : public testing::Test {
 protected:
  test::ScratchFolder folder_{Communicator::self()};
  std::string path_ = folder_ / "numbers";
  std::array<std::byte, 4> word_{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
};

TEST_F(RawFileTest, HoldsWhatWasWrittenAtItsPlaces) {
  RawFile file = RawFile::create(path_);
  file.reserve(10);
  file.write(6, word_);
  file.write(0, word_);
  file.close();
  const RawFile stored = RawFile::open_to_read(path_);
  EXPECT_EQ(stored.size(), 10);
  std::array<std::byte, 4> found{};
  for (const std::int64_t place : {0, 6}) {
    stored.read(place, found);
    EXPECT_EQ(found, word_);
  }
}

TEST_F(RawFileTest, AFileThatEndsTooEarlyIsADataError) {
  test::write_text(path_, "abcdef");
  const RawFile file = RawFile::open_to_read(path_);
  expect_error(ErrorKind::data, "ends at byte 6, 2 bytes before its data do",
               [&] { file.read(4, word_); });
}

TEST_F(RawFileTest, FollowsNoLinkToWrite) {
  test::write_text(path_, "theirs");
  std::filesystem::create_symlink("numbers", folder_ / "link");
  expect_error(ErrorKind::resource, "cannot be opened to write",
               [&] { RawFile::open_to_write(folder_ / "link"); });
  expect_error(ErrorKind::resource, "cannot be created",
               [&] { RawFile::create(folder_ / "link"); });
  EXPECT_EQ(test::bytes_of(path_), "theirs");
}

TEST_F(RawFileTest, AFileThatCannotBeOpenedIsNamed) {
  expect_error(ErrorKind::data, "missing: cannot be opened",
               [&] { RawFile::open_to_read(folder_ / "missing"); });
  expect_error(ErrorKind::resource, "every node sees",
               [&] { RawFile::open_to_write(folder_ / "missing"); });
}

TEST_F(RawFileTest, AFullDeviceIsAResourceError) {
  RawFile file = RawFile::open_to_write("/dev/full");
  expect_error(ErrorKind::resource, "/dev/full: writing failed: No space left",
               [&] { file.write(0, word_); });
}

}  // namespace
}  // namespace ringweave::detail
