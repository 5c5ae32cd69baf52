// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/error.hpp"
#include "distribute/mpi/communicator.hpp"

namespace ringweave {

/// How a program ends without hanging. Every rank comes here once, with how it went: after success,
/// after an error all ranks agreed on, or after one that only this rank met. When all have come,
/// the severest verdict is the program's, and it is said once. A rank that failed waits only
/// `grace_seconds` for the others: they may be inside a collective that it will never join, and
/// then it ends the job (MPI_Abort).
class CollectiveExit {
 public:
  /// Takes a communicator of its own, so that it can be reached while others wait elsewhere.
  /// Collective.
  explicit CollectiveExit(const Communicator& comm);
  ~CollectiveExit();
  CollectiveExit(const CollectiveExit&) = delete;
  CollectiveExit& operator=(const CollectiveExit&) = delete;

  /// Waits until all ranks have come, as end() does, and says nothing; end() may follow. Returns
  /// the severest exit code. Collective, with the way out above.
  int join(ErrorKind verdict, const std::string& message, double grace_seconds = 5);

  /// Returns the exit code of the program, the same on all ranks. `message` is printed to stderr by
  /// one rank: this rank's if its verdict is the severest (the lowest such rank). Collective, with
  /// the way out above.
  int finish(ErrorKind verdict, const std::string& message, double grace_seconds = 5);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// A program's main() between the start and the end of MPI: runs `work` on every rank and returns
/// the exit code, which is what `work` returned, or that of the severest error, said by a
/// CollectiveExit as "name: kind of error: message". Collective, with the CollectiveExit's way out.
int run_program(const Communicator& comm, const std::string& name, const std::function<int()>& work,
                double grace_seconds = 5);

}  // namespace ringweave
