// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/input_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "io_support.hpp"

namespace ringweave::detail::test {
namespace {

class InputFile : public testing::Test {
 protected:
  ScratchFolder folder_{Communicator::self()};
  std::string path_ = folder_ / "cl.txt";

  InputFile() { write_text(path_, "0 1.5\n1 2.5\n"); }
  void expect_changed(const InputStamp& stamp) const {
    expect_error(ErrorKind::data, path_ + ": was changed while it was read",
                 [&] { stamp.require_same(); });
  }
};

TEST_F(InputFile, IsTheSameUntilItChanges) {
  const InputStamp stamp(path_);
  EXPECT_EQ(stamp.size(), 12);
  EXPECT_NO_THROW(stamp.require_same());
  EXPECT_TRUE(stamp == InputStamp(path_));
  EXPECT_EQ(bytes_of(path_).size(), 12u);
  EXPECT_NO_THROW(stamp.require_same());
}

TEST_F(InputFile, IsAnotherOneWhenItIsCutOrGrows) {
  const InputStamp whole(path_);
  std::filesystem::resize_file(path_, 6);
  expect_changed(whole);
  const InputStamp cut(path_);
  write_text(path_, "0 1.5\n1 2.5\n2 3.5\n");
  expect_changed(cut);
}

TEST_F(InputFile, IsAnotherOneWhenItIsWrittenAnewOrReplaced) {
  const InputStamp first(path_);
  // A clock of the file system may tick after the second write only.
  const timespec later[2] = {{0, UTIME_OMIT}, {2000000000, 7}};
  ASSERT_EQ(::utimensat(AT_FDCWD, path_.c_str(), later, 0), 0);
  expect_changed(first);
  const InputStamp second(path_);
  std::filesystem::copy_file(path_, folder_ / "other");
  ASSERT_EQ(::utimensat(AT_FDCWD, (folder_ / "other").c_str(), later, 0), 0);
  std::filesystem::rename(folder_ / "other", path_);
  expect_changed(second);
  std::filesystem::remove(path_);
  expect_changed(second);
}

TEST_F(InputFile, MustBeThereOnEveryRank) {
  EXPECT_EQ(check_input_of_other_rank(path_), 12);
  expect_error(ErrorKind::data, "No such file or directory; rank 0 can open it: is its folder on",
               [&] { check_input_of_other_rank(folder_ / "elsewhere"); });
}

}  // namespace
}  // namespace ringweave::detail::test
