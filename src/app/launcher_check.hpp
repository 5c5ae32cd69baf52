// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ringweave/communicator.hpp"

namespace ringweave::detail::inline app {

/// Tells whether the environment says that a launcher, mpirun or srun, started this process.
bool is_launched();

/// Tells whether this process is no rank of an MPI launcher, and the only task of its Slurm step.
bool is_singleton();

/// Throws a UsageError where the environment says that a launcher started several ranks and MPI
/// knows of one: each would do all of the work and write the same files. Not collective.
void require_full_launch(const Communicator& comm);

}  // namespace ringweave::detail::inline app
