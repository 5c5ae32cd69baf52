// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace ringweave::detail {

/// Returns the bytes this rank has passed to MPI_Alltoallv, MPI_Ialltoallv and MPI_Isend for other
/// ranks since the program began, counted by MPI's profiling interface, independently of the plan.
/// Data for the rank itself do not count.
std::int64_t mpi_bytes_sent();

/// Returns how many times this rank has called MPI_Alltoallv or MPI_Ialltoallv, counted likewise.
std::int64_t mpi_alltoallvs();

}  // namespace ringweave::detail
