// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "fuzz/targets.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::test {
namespace {

/// Runs the input of a file; the folder that holds it has the name of its target.
void replay(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  const std::vector<char> bytes(std::istreambuf_iterator<char>(stream), {});
  std::printf("%s\n", file.c_str());
  std::fflush(stdout);
  run_fuzz_target(fuzz_target(std::filesystem::absolute(file).parent_path().filename()),
                  reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

}  // namespace
}  // namespace ringweave::detail::test

// Runs inputs of fuzz targets without libFuzzer: fuzz_replay FILE|FOLDER ...
int main(int argc, char** argv) {
  using namespace ringweave;
  int count = 0;
  try {
    for (const char* const path : std::vector<const char*>(argv + 1, argv + argc)) {
      std::vector<std::filesystem::path> files{path};
      if (std::filesystem::is_directory(path))
        files.assign(std::filesystem::recursive_directory_iterator(path), {});
      std::sort(files.begin(), files.end());
      for (const std::filesystem::path& file : files) {
        if (!std::filesystem::is_regular_file(file)) continue;
        detail::test::replay(file);
        ++count;
      }
    }
  } catch (const Error& error) {
    std::fprintf(stderr, "fuzz_replay: %s\n", error.what());
    return exit_code(error.kind());
  }
  std::printf("%d inputs were read or refused\n", count);
  return count > 0 ? 0 : exit_code(ErrorKind::usage);
}
