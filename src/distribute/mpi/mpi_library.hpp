// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace ringweave::detail::inline distribute {

/// Throws PeerError naming `call`, with MPI's own words, unless `code` is MPI_SUCCESS.
void check_mpi(int code, const char* call);

/// MPI's words for an error code.
std::string mpi_error_text(int code);

/// Returns true if several threads may be inside MPI at the same time, each with a communicator of
/// its own.
bool threads_may_call_mpi();

/// The MPI library's name and version in one line. May be called before MPI starts.
std::string mpi_library_version();

}  // namespace ringweave::detail::inline distribute
