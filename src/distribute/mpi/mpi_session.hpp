// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace ringweave {

/// MPI from its start to its end: one object in main(), outliving every Communicator. Works with
/// and without mpirun (alone: a job of one rank). Asks for MPI_THREAD_MULTIPLE, and takes what
/// it gets. When MPI already runs (library use), it is left running. Error  ResourceError when MPI
/// does not start.
class MpiSession {
 public:
  MpiSession(int* argc, char*** argv);
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

 private:
  bool owner_ = false;
};

/// Whether several threads may be inside MPI at the same time, each with a communicator of its own.
bool threads_may_call_mpi();

/// The MPI library's name and version in one line; may be asked before MPI starts.
std::string mpi_library_version();

}  // namespace ringweave
