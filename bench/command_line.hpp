// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <CLI/CLI.hpp>
#include <optional>

#include "ringweave/communicator.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail {

/// Parses the command line on every rank; rank 0 prints help and errors. Returns the exit code
/// where the program ends with that.
inline std::optional<int> parse(const Communicator& comm, CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (comm.is_root()) app.exit(error);
    return error.get_exit_code() == 0 ? 0 : exit_code(ErrorKind::usage);
  }
  return std::nullopt;
}

/// Runs run(communicator, argc, argv) under MPI, as the body of main(). Returns the exit code;
/// errors are printed as those of the program are.
template <class Run>
int run_bench(const char* name, int argc, char** argv, const Run& run) {
  const MpiSession mpi(&argc, &argv);
  const Communicator comm = Communicator::world();
  return run_program(comm, name, [&] { return run(comm, argc, argv); });
}

}  // namespace ringweave::detail
