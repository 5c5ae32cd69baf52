// SPDX-License-Identifier: GPL-3.0-or-later
// The only public header that includes <mpi.h>.
#pragma once

#include <mpi.h>

#include <ringweave/communicator.hpp>

namespace ringweave {

/// Duplicates the caller's communicator, see Communicator::duplicate_of(). Collective over `comm`.
template <>
Communicator Communicator::duplicate_of<MPI_Comm>(MPI_Comm comm);

/// Returns the MPI communicator behind `comm`, for MPI-IO, HDF5 and calls of your own; valid as
/// long as `comm` or a copy of it lives. Its error handler is MPI_ERRORS_RETURN. A group of one
/// that calls no MPI gives MPI_COMM_SELF. Not collective.
/// Error  UsageError when MPI is not running.
MPI_Comm mpi_handle(const Communicator& comm);

}  // namespace ringweave
