// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <mpi.h>

#include <string>

#include "distribute/mpi/communicator.hpp"

namespace ringweave {

/// The MPI communicator behind `comm`, for MPI-IO, HDF5 and this room; valid as long as `comm` or a
/// copy of it lives. Its error handler is MPI_ERRORS_RETURN. A group of one that calls no MPI gives
/// MPI_COMM_SELF. Error  UsageError when MPI is not running.
MPI_Comm mpi_handle(const Communicator& comm);

template <>
Communicator Communicator::duplicate_of<MPI_Comm>(MPI_Comm comm);

/// PeerError naming `call`, with MPI's own words, unless `code` is MPI_SUCCESS.
void check_mpi(int code, const char* call);

/// MPI's words for an error code.
std::string mpi_error_text(int code);

}  // namespace ringweave
