// SPDX-License-Identifier: GPL-3.0-or-later
// Prints the text of `ringweave [COMMAND] --help`, without starting MPI, which may be impossible
// where the program is built. packaging/program_pages.py makes man pages and completion from it.
#include <fmt/format.h>

#include "app/command_line.hpp"
#include "ringweave/error.hpp"

int main(int argc, char** argv) {
  using namespace ringweave;
  try {
    fmt::print("{}\n", detail::parse_command_line(argc, argv).text);
    return 0;
  } catch (...) {
    const CaughtError error = describe_current_exception();
    fmt::print(stderr, "ringweave_help: {}\n", error.message);
    return exit_code(error.kind);
  }
}
