// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "app/run.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline app {

/// Queue of tasks that read and write files, executed in the order they were added: by a thread of
/// each rank concurrently with the computation, or immediately by the caller. Tasks are collective,
/// so every rank adds the same ones in the same order. Only tasks may use HDF5 and CFITSIO while
/// any are pending. A task's captures are freed before it counts as done. After a task throws, no
/// further one is executed.
class FileQueue {
 public:
  enum class Mode { beside, at_once };
  using Task = std::function<void(FileTraffic&)>;
  using Ticket = std::int64_t;

  /// Collective. If MPI allows only one thread, tasks are executed immediately.
  FileQueue(const Communicator& comm, Mode mode);
  /// Waits for the remaining tasks.
  ~FileQueue();
  FileQueue(const FileQueue&) = delete;
  FileQueue& operator=(const FileQueue&) = delete;

  /// Returns at_once if MPI does not allow a second thread.
  static Mode possible(Mode wanted);
  Mode mode() const { return mode_; }

  Ticket add(Task task);
  /// Waits for a task and those before it. Error  that of a task.
  void wait(Ticket ticket);
  /// Waits for all tasks.
  void finish();
  /// Returns the traffic of all tasks; after finish().
  const FileTraffic& traffic() const;

  /// Waits, on a rank that has failed, a few seconds for the others to fail too, then for the tasks
  /// that were added. Ends the job if they do not fail, because ranks may then wait for each other
  /// forever. Collective.
  void finish_after(ErrorKind error, const std::string& message);

 private:
  struct Impl;
  Mode mode_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringweave::detail::inline app
