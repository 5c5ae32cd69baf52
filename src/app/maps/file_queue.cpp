// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/maps/file_queue.hpp"

#include <omp.h>

#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <utility>

#include "base/task_thread.hpp"
#include "distribute/mpi/collective_exit.hpp"
#include "distribute/mpi/mpi_library.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline app {

struct FileQueue::Impl {
  explicit Impl(const Communicator& of_run, Mode mode)
      : comm(of_run), traffic{mode == Mode::beside ? of_run.split(0, of_run.rank()) : of_run} {}

  /// The current task is number n_done + 1.
  void perform(Task task) {
    std::exception_ptr thrown;
    if (error == nullptr) {
      try {
        task(traffic);
      } catch (...) {
        thrown = std::current_exception();
      }
    }
    task = nullptr;
    {
      const std::lock_guard<std::mutex> lock(mutex);
      ++n_done;
      if (thrown != nullptr) {
        error = thrown;
        failed = n_done;
      }
    }
    changed.notify_all();
  }

  Communicator comm;
  FileTraffic traffic;
  std::unique_ptr<CollectiveExit> collective_exit;
  std::int64_t n_added = 0;
  std::mutex mutex;  // protects n_done and the error, which only the task thread changes
  std::condition_variable changed;
  std::int64_t n_done = 0;
  std::exception_ptr error;
  Ticket failed = 0;
  std::optional<TaskThread> thread;  // destroyed before the members it uses
};

FileQueue::Mode FileQueue::possible(Mode wanted) {
  return threads_may_call_mpi() ? wanted : Mode::at_once;
}

FileQueue::FileQueue(const Communicator& comm, Mode mode)
    : mode_(comm.min(std::int64_t{possible(mode) == Mode::beside}) == 1 ? Mode::beside
                                                                        : Mode::at_once),
      impl_(std::make_unique<Impl>(comm, mode_)) {
  if (mode_ == Mode::at_once) return;
  impl_->collective_exit = std::make_unique<CollectiveExit>(comm);
  // The cores are needed by the computation.
  impl_->thread.emplace().begin([] { omp_set_num_threads(1); });
}

FileQueue::~FileQueue() = default;

FileQueue::Ticket FileQueue::add(Task task) {
  if (mode_ == Mode::at_once) {
    impl_->perform(std::move(task));
  } else {
    impl_->thread->begin(
        [impl = impl_.get(), task = std::move(task)]() mutable { impl->perform(std::move(task)); });
  }
  return ++impl_->n_added;
}

void FileQueue::wait(Ticket ticket) {
  std::unique_lock<std::mutex> lock(impl_->mutex);
  impl_->changed.wait(lock, [&] { return impl_->n_done >= ticket; });
  // Ignore errors of later tasks, which other ranks may not have reached.
  if (impl_->error != nullptr && impl_->failed <= ticket) std::rethrow_exception(impl_->error);
}

void FileQueue::finish() { wait(impl_->n_added); }

const FileTraffic& FileQueue::traffic() const { return impl_->traffic; }

void FileQueue::finish_after(ErrorKind error, const std::string& message) {
  if (mode_ == Mode::at_once) return;
  impl_->collective_exit->join(error, message);
  const Communicator& comm = impl_->comm;
  if (comm.max(impl_->n_added) != comm.min(impl_->n_added)) comm.abort(error, message);
  std::unique_lock<std::mutex> lock(impl_->mutex);
  impl_->changed.wait(lock, [&] { return impl_->n_done >= impl_->n_added; });
}

}  // namespace ringweave::detail::inline app
