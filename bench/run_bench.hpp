// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ringweave/communicator.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail {

/// Runs run(communicator, argc, argv) under MPI, as the body of main(). Returns the exit code;
/// errors are printed as those of the program are.
template <class Run>
int run_bench(const char* name, int argc, char** argv, const Run& run) {
  const MpiSession mpi(&argc, &argv);
  const Communicator comm = Communicator::world();
  return run_program(comm, name, [&] { return run(comm, argc, argv); });
}

}  // namespace ringweave::detail
