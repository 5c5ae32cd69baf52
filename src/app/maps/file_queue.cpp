// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/maps/file_queue.hpp"

#include <omp.h>

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "base/error.hpp"
#include "distribute/farewell.hpp"
#include "distribute/mpi_session.hpp"

namespace ringweave {

struct FileQueue::Impl {
  explicit Impl(const Communicator& of_run, Mode mode)
      : comm(of_run), traffic{mode == Mode::beside ? of_run.split(0, of_run.rank()) : of_run} {}

  /// The task in hand is number n_done + 1.
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
    const std::lock_guard<std::mutex> lock(mutex);
    ++n_done;
    if (thrown == nullptr) return;
    error = thrown;
    failed = n_done;
  }

  void serve() {
    // The cores belong to the computation.
    omp_set_num_threads(1);
    std::unique_lock<std::mutex> lock(mutex);
    for (;;) {
      changed.wait(lock, [&] { return !waiting.empty() || is_closed; });
      if (waiting.empty()) return;
      Task task = std::move(waiting.front());
      waiting.pop_front();
      lock.unlock();
      perform(std::move(task));
      lock.lock();
      changed.notify_all();
    }
  }

  Communicator comm;
  FileTraffic traffic;
  std::unique_ptr<Farewell> farewell;
  std::mutex mutex;  // of all below; n_done and the error change on the thread of the tasks only
  std::condition_variable changed;
  std::deque<Task> waiting;
  std::int64_t n_added = 0;
  std::int64_t n_done = 0;
  std::exception_ptr error;
  Ticket failed = 0;
  bool is_closed = false;
  std::thread thread;
};

FileQueue::Mode FileQueue::possible(Mode wanted) {
  return threads_may_call_mpi() ? wanted : Mode::at_once;
}

FileQueue::FileQueue(const Communicator& comm, Mode mode)
    : mode_(comm.min(std::int64_t{possible(mode) == Mode::beside}) == 1 ? Mode::beside
                                                                        : Mode::at_once),
      impl_(std::make_unique<Impl>(comm, mode_)) {
  if (mode_ == Mode::at_once) return;
  impl_->farewell = std::make_unique<Farewell>(comm);
  impl_->thread = std::thread([this] { impl_->serve(); });
}

FileQueue::~FileQueue() {
  if (!impl_->thread.joinable()) return;
  {
    const std::lock_guard<std::mutex> lock(impl_->mutex);
    impl_->is_closed = true;
  }
  impl_->changed.notify_all();
  impl_->thread.join();
}

FileQueue::Ticket FileQueue::add(Task task) {
  if (mode_ == Mode::at_once) {
    impl_->perform(std::move(task));
    return ++impl_->n_added;
  }
  Ticket ticket = 0;
  {
    const std::lock_guard<std::mutex> lock(impl_->mutex);
    impl_->waiting.push_back(std::move(task));
    ticket = ++impl_->n_added;
  }
  impl_->changed.notify_all();
  return ticket;
}

void FileQueue::wait(Ticket ticket) {
  std::unique_lock<std::mutex> lock(impl_->mutex);
  impl_->changed.wait(lock, [&] { return impl_->n_done >= ticket; });
  // Not of a later task: other ranks may not have come to it.
  if (impl_->error != nullptr && impl_->failed <= ticket) std::rethrow_exception(impl_->error);
}

void FileQueue::finish() { wait(impl_->n_added); }

const FileTraffic& FileQueue::traffic() const { return impl_->traffic; }

void FileQueue::settle_after(ErrorKind error, const std::string& message) {
  if (mode_ == Mode::at_once) return;
  impl_->farewell->meet(error, message);
  const Communicator& comm = impl_->comm;
  if (comm.max(impl_->n_added) != comm.min(impl_->n_added)) comm.abort(error, message);
  std::unique_lock<std::mutex> lock(impl_->mutex);
  impl_->changed.wait(lock, [&] { return impl_->n_done >= impl_->n_added; });
}

}  // namespace ringweave
