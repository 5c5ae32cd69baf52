// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include "distribute/mpi/worst_error.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline distribute {

/// Collective shutdown of a program. Every rank reports its outcome once: success, an error all
/// ranks agreed on, or one that it met alone. The severest becomes the program's and is printed
/// once. A rank that failed waits only `grace_seconds` for the others, which may be inside a
/// collective call that it will never join, and then ends the job (MPI_Abort).
class CollectiveExit {
 public:
  /// Duplicates the communicator, so that ranks can report while others wait elsewhere. Collective.
  explicit CollectiveExit(const Communicator& comm) : comm_(comm.split(0, comm.rank())) {}
  CollectiveExit(const CollectiveExit&) = delete;
  CollectiveExit& operator=(const CollectiveExit&) = delete;

  /// Waits for the outcome of all ranks and returns the severest exit code. Prints nothing;
  /// finish() may follow. Collective; a failed rank ends the job after `grace_seconds`.
  int join(ErrorKind verdict, const std::string& message,
           double grace_seconds = usual_grace_seconds);

  /// Returns the exit code of the program, the same on all ranks. The lowest rank with the severest
  /// verdict prints it and its `message` to stderr, after the name of the program. Collective; a
  /// failed rank ends the job after `grace_seconds`.
  int finish(const std::string& program, ErrorKind verdict, const std::string& message,
             double grace_seconds = usual_grace_seconds);

 private:
  Communicator comm_;
};

}  // namespace ringweave::detail::inline distribute
