// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/task_thread.hpp"

namespace ringweave::detail::inline base {

TaskThread::TaskThread() : thread_([this] { serve(); }) {}

TaskThread::~TaskThread() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_closed_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void TaskThread::add(std::packaged_task<void()> task) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    waiting_.push_back(std::move(task));
  }
  changed_.notify_one();
}

void TaskThread::serve() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return !waiting_.empty() || is_closed_; });
    if (waiting_.empty()) return;
    std::packaged_task<void()> task = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    task();
    task = {};
    lock.lock();
  }
}

}  // namespace ringweave::detail::inline base
