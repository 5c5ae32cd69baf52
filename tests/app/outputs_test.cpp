// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/outputs.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace ringweave::detail {
namespace {

namespace fs = std::filesystem;

TEST(Outputs, AFileIsOneByAllItsNames) {
  const fs::path folder =
      fs::temp_directory_path() / ("ringweave_outputs_" + std::to_string(::getpid()));
  fs::create_directory(folder);
  const auto name = [&](const char* file) { return (folder / file).string(); };
  for (const char* file : {"one.txt", "other.txt"}) std::ofstream(name(file)) << "text\n";
  fs::create_hard_link(name("one.txt"), name("hard.txt"));
  fs::create_symlink("one.txt", name("soft.txt"));
  EXPECT_EQ(one_file(name("one.txt")), one_file(name("hard.txt")));
  EXPECT_EQ(one_file(name("one.txt")), one_file(name("soft.txt")));
  EXPECT_NE(one_file(name("one.txt")), one_file(name("other.txt")));
  EXPECT_EQ(one_file(name("none.txt")),
            one_file(name("../") + folder.filename().string() + "/none.txt"));
  EXPECT_NE(one_file(name("none.txt")), one_file(name("nothing.txt")));
  // An output replaces a name, not the file: each may have one of two hard links.
  EXPECT_NE(one_name(name("one.txt")), one_name(name("hard.txt")));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace ringweave::detail
