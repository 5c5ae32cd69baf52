// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ringweave/communicator.hpp"

namespace ringweave::detail::inline app {

/// Sets signals and memory of the process. For main(), before anything else.
void prepare_process();

/// Prints the text that a command line asks for (--help, --version) and returns true, where no
/// launcher started this process; returns false where MPI must start: to run a command, or to
/// report an error. Error  ResourceError (stdout cannot be written).
bool answer_without_mpi(int argc, const char* const* argv);

/// Runs a command line of the program and returns its exit code, the same on all ranks. Errors are
/// printed, by one rank. Collective.
int run_command(const Communicator& comm, int argc, const char* const* argv);

}  // namespace ringweave::detail::inline app
