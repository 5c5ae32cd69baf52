// SPDX-License-Identifier: GPL-3.0-or-later
// What objects with calls that compute have in common.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "threads.hpp"

#include <ringweave/communicator.hpp>
#include <ringweave/error.hpp>
#include <ringweave/execution.hpp>

namespace ringweave::python {

/// A plan of the library, freed by close(). Calls of several Python threads wait for each other.
template <class Object>
class Plan {
 public:
  /// Makes the plan without the GIL.
  template <class Make>
  Plan(std::string name, const Communicator& comm, int threads, const Make& make)
      : name_(std::move(name)), comm_(comm), threads_(threads) {
    const nb::gil_scoped_release released;
    const ThreadCount count(threads_);
    object_ = make();
  }
  ~Plan() {
    if (!object_) return;
    const nb::gil_scoped_release released;
    object_.reset();
  }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  const Communicator& comm() const { return comm_; }   ///< that of the plan
  bool is_open() const { return object_ != nullptr; }  ///< close() was not called

  /// Returns the plan. To be called with the GIL.
  /// Error  UsageError after close() and within a callback of a call of this plan.
  Object& get() const {
    if (!object_) throw UsageError("the " + name_ + " was closed; make another one");
    if (caller_.load() == std::this_thread::get_id())
      throw UsageError("the " + name_ + " is at work; its callback must not call it");
    return *object_;
  }

  /// Runs work(plan) without the GIL. get() must have been called before.
  template <class Work>
  auto run(const Work& work) {
    const nb::gil_scoped_release released;
    return run_without_gil(work);
  }
  /// Does the same within the run() of another plan.
  template <class Work>
  auto run_without_gil(const Work& work) {
    const std::scoped_lock one_at_a_time(mutex_);
    if (!object_) throw UsageError("the " + name_ + " was closed by another thread");
    const ThreadCount count(threads_);
    const Caller caller(caller_);
    return work(*object_);
  }

  /// Frees the plan. What was made of it stays. Collective.
  /// Error  UsageError within a callback of a call of this plan.
  void close() {
    if (!object_) return;
    get();
    const nb::gil_scoped_release released;
    const std::scoped_lock one_at_a_time(mutex_);
    std::unique_ptr<Object> freed;
    {
      // Others look at the plan while they have the GIL.
      const nb::gil_scoped_acquire acquired;
      freed = std::move(object_);
    }
    freed.reset();
  }

 private:
  struct Caller {
    explicit Caller(std::atomic<std::thread::id>& id) : id_(id) {
      id_ = std::this_thread::get_id();
    }
    ~Caller() { id_ = std::thread::id(); }
    Caller(const Caller&) = delete;
    Caller& operator=(const Caller&) = delete;
    std::atomic<std::thread::id>& id_;
  };

  std::string name_;
  Communicator comm_;
  int threads_;
  std::unique_ptr<Object> object_;
  std::mutex mutex_;
  std::atomic<std::thread::id> caller_{};
};

/// Returns {stage: (seconds, calls)} of a plan.
template <class Object>
nb::dict times_of(Plan<Object>& plan) {
  plan.get();
  const StageTimes times = plan.run([](Object& object) { return object.times(); });
  nb::dict result;
  for (const auto& [stage, entry] : times.entries())
    result[stage.c_str()] = nb::make_tuple(entry.seconds, entry.calls);
  return result;
}

}  // namespace ringweave::python
