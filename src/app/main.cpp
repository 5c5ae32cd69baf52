// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include "app/program.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/error.hpp"

int main(int argc, char** argv) {
  using namespace ringweave;
  detail::prepare_process();
  if (detail::answer_without_mpi(argc, argv)) return 0;
  try {
    const MpiSession mpi(&argc, &argv);
    return detail::run_command(Communicator::world(), argc, argv);
  } catch (...) {
    // Only MPI itself can fail here.
    const CaughtError error = describe_current_exception();
    fmt::print(stderr, "ringweave: {}\n", error.message);
    return exit_code(error.kind);
  }
}
