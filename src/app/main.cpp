// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>
#include <malloc.h>

#include <csignal>

#include "app/maps/stop_request.hpp"
#include "app/program.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/error.hpp"

int main(int argc, char** argv) {
  using namespace ringweave;
  // Without the signal, a write beyond the file size limit fails with an error and a message.
  std::signal(SIGXFSZ, SIG_IGN);
  // Freed blocks of a megabyte and more return to the system at once, so that resident memory is
  // what a plan states.
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
  detail::listen_to_sigusr1();
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
