// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include "app/program.hpp"
#include "base/terminal.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/error.hpp"

int main(int argc, char** argv) {
  using namespace ringweave;
  detail::prepare_process();
  try {
    if (detail::answer_without_mpi(argc, argv)) return 0;
    const MpiSession mpi(&argc, &argv);
    return detail::run_command(Communicator::world(), argc, argv);
  } catch (...) {
    // Only MPI itself, or printing without it, can fail here.
    const CaughtError error = describe_current_exception();
    detail::print_message(fmt::format("ringweave: {}: {}", name_of(error.kind), error.message));
    return exit_code(error.kind);
  }
}
