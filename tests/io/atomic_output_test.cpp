// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/atomic_output.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "io_support.hpp"
#include "ringweave/files.hpp"

namespace ringweave::detail {
namespace {

namespace fs = std::filesystem;
using test::expect_error;

class AtomicOutputTest : public testing::Test {
 protected:
  Communicator comm_ = Communicator::world();
  test::ScratchFolder folder_{comm_};
  std::string path_ = folder_ / "map.fits.gz";

  std::string content() { return comm_.broadcast(comm_.is_root() ? test::bytes_of(path_) : "", 0); }
  std::int64_t n_files() {
    comm_.barrier();
    const std::int64_t here =
        comm_.is_root()
            ? std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator())
            : 0;
    return comm_.sum(here);
  }
  std::vector<std::shared_ptr<OutputClaim>> check(const std::string& path, IfExists if_exists) {
    return AtomicOutput::check(comm_, std::span(&path, 1), if_exists);
  }
  void expect_refusal(ErrorKind kind, const std::string& words, const std::string& path,
                      IfExists if_exists = IfExists::overwrite) {
    expect_error(kind, words, [&] { AtomicOutput(comm_, path, if_exists); });
    expect_error(kind, words, [&] { check(path, if_exists); });
  }
};

TEST_F(AtomicOutputTest, AppearsWhenCommitted) {
  AtomicOutput output(comm_, path_, IfExists::fail);
  EXPECT_TRUE(output.temporary_path().ends_with("map.fits.gz"));
  EXPECT_NE(output.temporary_path(), path_);
  EXPECT_EQ(fs::path(output.temporary_path()).parent_path(), fs::path(path_).parent_path());
  test::on_root(comm_, [&] {
    test::write_text(output.temporary_path(), "new");
    EXPECT_FALSE(fs::exists(path_));
  });
  output.commit();
  EXPECT_EQ(content(), "new");
  EXPECT_EQ(n_files(), 1);
}

TEST_F(AtomicOutputTest, LeavesTheOldFileWhenItIsNotCommitted) {
  test::on_root(comm_, [&] { test::write_text(path_, "old"); });
  {
    const AtomicOutput output(comm_, path_, IfExists::overwrite);
    test::on_root(comm_, [&] { test::write_text(output.temporary_path(), "half"); });
  }
  EXPECT_EQ(content(), "old");
  EXPECT_EQ(n_files(), 1);
}

TEST_F(AtomicOutputTest, ReplacesTheOldFileOnlyWhenToldSo) {
  test::on_root(comm_, [&] { test::write_text(path_, "old"); });
  expect_refusal(ErrorKind::usage, "pass --overwrite", path_, IfExists::fail);
  AtomicOutput output(comm_, path_, IfExists::overwrite);
  test::on_root(comm_, [&] { test::write_text(output.temporary_path(), "new"); });
  output.commit();
  EXPECT_EQ(content(), "new");
}

TEST_F(AtomicOutputTest, KeepsTheModeOfTheFileItReplaces) {
  test::on_root(comm_, [&] {
    test::write_text(path_, "old");
    fs::permissions(path_, fs::perms::owner_read | fs::perms::owner_write);
  });
  AtomicOutput output(comm_, path_, IfExists::overwrite);
  test::on_root(comm_, [&] { test::write_text(output.temporary_path(), "new"); });
  output.commit();
  test::on_root(comm_, [&] {
    EXPECT_EQ(fs::status(path_).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  });
}

TEST_F(AtomicOutputTest, DoesNotReplaceAFileThatAppearedSince) {
  {
    AtomicOutput first(comm_, folder_ / "first.fits", IfExists::fail);
    AtomicOutput output(comm_, path_, IfExists::fail);
    test::on_root(comm_, [&] {
      test::write_text(first.temporary_path(), "mine");
      test::write_text(output.temporary_path(), "mine");
      test::write_text(path_, "another run's");
    });
    AtomicOutput* const both[] = {&first, &output};
    expect_error(ErrorKind::usage, "appeared during this run",
                 [&] { AtomicOutput::commit(comm_, both); });
  }
  EXPECT_EQ(content(), "another run's");
  EXPECT_EQ(n_files(), 1);
}

TEST_F(AtomicOutputTest, PutsBackWhatItRenamedWhenALaterOneFails) {
  const std::string old_path = folder_ / "old.fits";
  const std::string last_path = folder_ / "last.fits";
  test::on_root(comm_, [&] { test::write_text(old_path, "old"); });
  {
    AtomicOutput replacing(comm_, old_path, IfExists::overwrite);
    AtomicOutput fresh(comm_, path_, IfExists::fail);
    AtomicOutput last(comm_, last_path, IfExists::overwrite);
    test::on_root(comm_, [&] {
      for (const AtomicOutput* output : {&replacing, &fresh, &last})
        test::write_text(output->temporary_path(), "new");
      fs::create_directory(last_path);  // no file can replace it
    });
    AtomicOutput* const all[] = {&replacing, &fresh, &last};
    expect_error(ErrorKind::resource, "last.fits", [&] { AtomicOutput::commit(comm_, all); });
  }
  test::on_root(comm_, [&] {
    EXPECT_EQ(test::bytes_of(old_path), "old");
    EXPECT_FALSE(fs::exists(path_));
  });
  EXPECT_EQ(n_files(), 2);
}

TEST_F(AtomicOutputTest, OnlyThisUserReadsItBeforeItIsWhole) {
  AtomicOutput output(comm_, path_, IfExists::fail);
  const auto mode = [&](const std::string& path) {
    struct stat status {};
    EXPECT_EQ(::stat(path.c_str(), &status), 0);
    return status.st_mode & 0777;
  };
  const mode_t mask = ::umask(0);
  ::umask(mask);
  test::on_root(comm_, [&] {
    EXPECT_EQ(mode(output.temporary_path()), 0600);
    test::write_text(output.temporary_path(), "new");
  });
  output.commit();
  test::on_root(comm_, [&] { EXPECT_EQ(mode(path_), 0666 & ~mask); });
}

TEST_F(AtomicOutputTest, DoesNotCommitALinkInPlaceOfTheFile) {
  AtomicOutput output(comm_, path_, IfExists::fail);
  test::on_root(comm_, [&] {
    test::write_text(folder_ / "victim", "theirs");
    fs::remove(output.temporary_path());
    fs::create_symlink("victim", output.temporary_path());
  });
  expect_error(ErrorKind::resource, "replaced by others", [&] { output.commit(); });
  test::on_root(comm_, [&] { EXPECT_FALSE(fs::exists(path_)); });
}

TEST_F(AtomicOutputTest, AnotherProcessCannotWriteTheSameFile) {
  const std::string lock = folder_ / ".tmp.lock.map.fits.gz";
  int theirs = -1;
  test::on_root(comm_, [&] {
    theirs = ::open(lock.c_str(), O_RDWR | O_CREAT, 0600);
    // A lock belongs to an open file: this one stands for that of another process.
    EXPECT_EQ(::flock(theirs, LOCK_EX), 0);
  });
  expect_refusal(ErrorKind::usage, "map.fits.gz: another run is writing it", path_);
  EXPECT_EQ(n_files(), 1);
  test::on_root(comm_, [&] { ::close(theirs); });
  const auto claims = check(path_, IfExists::fail);
  // This process may have it more than once.
  const AtomicOutput own(comm_, path_, IfExists::fail);
  EXPECT_EQ(claims.size(), comm_.is_root() ? 1u : 0u);
}

TEST_F(AtomicOutputTest, AClaimOfADeadProcessIsTakenOver) {
  const std::string lock = folder_ / ".tmp.lock.map.fits.gz";
  test::on_root(comm_, [&] {
    test::write_text(lock, "process 17 on a node that is gone");
    test::write_text(folder_ / ".tmp.17-0123456789abcdef.map.fits.gz", "a part");
  });
  check(path_, IfExists::fail);
  EXPECT_EQ(n_files(), 0);
}

TEST_F(AtomicOutputTest, IsRemovedWhenTheProcessEndsEarly) {
  const AtomicOutput output(comm_, path_, IfExists::fail);
  comm_.barrier();
  remove_temporary_files();
  EXPECT_EQ(n_files(), 0);
}

TEST_F(AtomicOutputTest, TemporaryNamesDiffer) {
  const AtomicOutput one(comm_, path_, IfExists::fail);
  const AtomicOutput other(comm_, path_, IfExists::fail);
  EXPECT_NE(one.temporary_path(), other.temporary_path());
}

TEST_F(AtomicOutputTest, FailsOnEveryRankWhenNothingWasWritten) {
  AtomicOutput output(comm_, path_, IfExists::fail);
  expect_error(ErrorKind::resource, "not safely on disk", [&] { output.commit(); });
}

TEST_F(AtomicOutputTest, NeverReplacesWhatIsNotARegularFile) {
  test::on_root(comm_, [&] {
    fs::create_directory(folder_ / "folder.fits");
    ::mkfifo((folder_ / "pipe.fits").c_str(), 0600);
    fs::create_symlink("/dev/null", folder_ / "null.fits");
    fs::create_symlink("nowhere.fits", folder_ / "dangling.fits");
  });
  expect_refusal(ErrorKind::usage, "is a folder", folder_ / "folder.fits");
  expect_refusal(ErrorKind::usage, "device, pipe or socket", folder_ / "pipe.fits");
  expect_refusal(ErrorKind::usage, "device, pipe or socket", folder_ / "null.fits");
  expect_refusal(ErrorKind::usage, "device, pipe or socket", "/dev/null");
  expect_refusal(ErrorKind::usage, "leads nowhere", folder_ / "dangling.fits");
  expect_refusal(ErrorKind::usage, "not the name of a file", folder_.path() + "/");
}

TEST_F(AtomicOutputTest, ALinkToAFileStaysALink) {
  test::on_root(comm_, [&] {
    test::write_text(folder_ / "target.fits", "old");
    fs::create_symlink("target.fits", path_);
  });
  AtomicOutput output(comm_, path_, IfExists::overwrite);
  test::on_root(comm_, [&] { test::write_text(output.temporary_path(), "new"); });
  output.commit();
  test::on_root(comm_, [&] {
    EXPECT_TRUE(fs::is_symlink(path_));
    EXPECT_EQ(test::bytes_of(folder_ / "target.fits"), "new");
  });
}

TEST_F(AtomicOutputTest, FoldersThatDoNotExistAreUsageErrors) {
  expect_refusal(ErrorKind::usage, "create it first", folder_ / "missing/map.fits");
  test::on_root(comm_, [&] { test::write_text(folder_ / "file", "x"); });
  expect_refusal(ErrorKind::usage, "not a folder", folder_ / "file/map.fits");
  expect_refusal(ErrorKind::usage, "create it first", folder_ / "file/in/map.fits");
}

TEST_F(AtomicOutputTest, FoldersThatCannotBeWrittenAreResourceErrors) {
  // Root passes the permission check, but nobody can create files in /proc.
  expect_error(ErrorKind::resource, "/proc/map.fits",
               [&] { AtomicOutput(comm_, "/proc/map.fits", IfExists::fail); });
}

TEST_F(AtomicOutputTest, TheCheckLeavesNothingBehind) {
  check(path_, IfExists::fail);
  EXPECT_EQ(n_files(), 0);
}

TEST_F(AtomicOutputTest, SeveralAreCheckedAtOnce) {
  const std::vector<std::string> paths{path_, folder_ / "missing/map.fits", folder_ / "b.fits"};
  const std::string left = folder_ / ".tmp.17-0123456789abcdef.b.fits";
  test::on_root(comm_, [&] { test::write_text(left, "a part"); });
  expect_error(ErrorKind::usage, "missing/map.fits: there is no folder",
               [&] { AtomicOutput::check(comm_, paths, IfExists::fail); });
  EXPECT_EQ(n_files(), 1);
  const std::vector<std::string> good{path_, folder_ / "a.fits", folder_ / "b.fits"};
  {
    const auto claims = AtomicOutput::check(comm_, good, IfExists::fail);
    EXPECT_EQ(claims.size(), comm_.is_root() ? 3u : 0u);
    EXPECT_EQ(n_files(), 3);  // the claims
  }
  EXPECT_EQ(n_files(), 0);
}

TEST_F(AtomicOutputTest, WhatKilledRunsLeftIsRemovedForTheNamesGivenOnly) {
  test::on_root(comm_, [&] {
    for (const char* name :
         {".tmp.17.map.fits", ".tmp.17-0123456789abcdef.map.fits", ".tmp.4711.map.fits",
          ".tmp.17.other.fits", ".tmp.x.map.fits", ".tmp.17map.fits"})
      test::write_text(folder_ / name, "a part");
  });
  const std::string names[] = {folder_ / "map.fits", folder_ / "missing.fits"};
  EXPECT_EQ(AtomicOutput::remove_unfinished(comm_, names), 3);
  EXPECT_EQ(n_files(), 3);
}

}  // namespace
}  // namespace ringweave::detail
