// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace ringweave {

/// Bytes this rank has given MPI_Alltoallv, MPI_Ialltoallv and MPI_Isend for other ranks since the
/// program began, by MPI's own profiling interface: what moved, whatever the plan says. What a rank
/// owes itself is not counted.
std::int64_t mpi_bytes_sent();

}  // namespace ringweave
