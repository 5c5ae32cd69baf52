// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/temporary_files.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

namespace ringweave::detail::test {
namespace {

namespace fs = std::filesystem;

class TemporaryFiles : public testing::Test {
 protected:
  TemporaryFiles() { fs::create_directory(folder_); }
  ~TemporaryFiles() override { fs::remove_all(folder_); }

  /// Makes a file and returns its name.
  std::string file(int number) const {
    const std::string path = (folder_ / std::to_string(number)).string();
    std::ofstream(path) << "a part";
    return path;
  }
  std::ptrdiff_t n_files() const { return std::distance(fs::directory_iterator(folder_), {}); }

 private:
  fs::path folder_ =
      fs::temp_directory_path() / ("ringweave_temporary_" + std::to_string(::getpid()));
};

TEST_F(TemporaryFiles, AreRemovedWhileTheyAreNamed) {
  const std::string kept = file(0);
  { const TemporaryFile no_longer(kept); }
  const TemporaryFile named(file(1));
  remove_temporary_files();
  EXPECT_TRUE(fs::exists(kept));
  EXPECT_EQ(n_files(), 1);
}

TEST_F(TemporaryFiles, AreKnownForManyOutputs) {
  // Those of a run of many maps: a claim for each, and what is written.
  std::vector<std::unique_ptr<TemporaryFile>> named;
  for (int i = 0; i < TemporaryFile::most; ++i)
    named.push_back(std::make_unique<TemporaryFile>(file(i)));
  const TemporaryFile one_more(file(TemporaryFile::most));
  remove_temporary_files();
  EXPECT_EQ(n_files(), 1);
  named.clear();
  const TemporaryFile after_them(file(0));
  remove_temporary_files();
  EXPECT_EQ(n_files(), 1);
}

}  // namespace
}  // namespace ringweave::detail::test
