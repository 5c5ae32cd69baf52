// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <utility>

#include "base/activity.hpp"

namespace ringweave::detail::inline distribute {

/// Throws PeerError naming `call`, with MPI's own words, unless `code` is MPI_SUCCESS.
void check_mpi(int code, const char* call);

/// MPI's words for an error code.
std::string mpi_error_text(int code);

/// Runs a call in which this thread waits for other ranks, and returns what it returns. The
/// process's Activity has its `name`, a literal, meanwhile.
template <class Call>
auto waiting_in(const char* name, Call&& call) {
  const ActivityMark mark(ActivityMark::Of::call, name);
  return std::forward<Call>(call)();
}

/// Does the same for a call of MPI and checks its code. Error  as check_mpi().
template <class Call>
void check_mpi_wait(const char* name, Call&& call) {
  check_mpi(waiting_in(name, std::forward<Call>(call)), name);
}

/// Returns true if several threads may be inside MPI at the same time, each with a communicator of
/// its own.
bool threads_may_call_mpi();

/// The MPI library's name and version in one line. May be called before MPI starts.
std::string mpi_library_version();

}  // namespace ringweave::detail::inline distribute
