// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "app/run.hpp"
#include "base/error.hpp"
#include "distribute/mpi/communicator.hpp"

namespace ringweave {

/// Tasks that read and write files, done one after the other in the order they were added: by a
/// thread of each rank beside the computation, or at once by the caller. Tasks are collective, so
/// every rank adds the same ones in the same order; HDF5 and CFITSIO are theirs while there are
/// any. What a task holds is freed before it counts as done. A task that throws is the last one.
class FileQueue {
 public:
  enum class Mode { beside, at_once };
  using Task = std::function<void(FileTraffic&)>;
  using Ticket = std::int64_t;

  /// Collective. Where MPI admits one thread only, tasks are done at once.
  FileQueue(const Communicator& comm, Mode mode);
  /// Waits for the tasks that are left.
  ~FileQueue();
  FileQueue(const FileQueue&) = delete;
  FileQueue& operator=(const FileQueue&) = delete;

  /// `comm` itself, and no thread, where tasks are done at once.
  static Mode possible(Mode wanted);
  Mode mode() const { return mode_; }

  Ticket add(Task task);
  /// Waits for a task and those before it. Error  what a task threw.
  void wait(Ticket ticket);
  /// The same for all of them.
  void finish();
  /// What the tasks used so far; after finish().
  const FileTraffic& traffic() const;

  /// For a rank that has failed: waits a few seconds for the others to fail too, then for the tasks
  /// that were added; ends the job where they do not, for then they may wait for each other
  /// forever. Collective.
  void settle_after(ErrorKind error, const std::string& message);

 private:
  struct Impl;
  Mode mode_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringweave
