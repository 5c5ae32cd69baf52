// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "softdevice/machine/program.hpp"
#include "softdevice/memory/global_memory.hpp"
#include "softdevice/memory/operation.hpp"

namespace softdevice {

/// The effect of an operation of a stream on memory, when it is run.
using Work = std::function<void(OrderedMemory&, const Operation&, Moment)>;

inline constexpr const char* name_of_events = "event";

/// An operation in the queue of a stream.
struct Task {
  Operation operation;
  Moment moment;
  Work work;
  std::vector<std::shared_ptr<Task>> after;
  bool is_done = false;
};

/// A node of a graph: an operation without its place in a stream.
struct Node {
  std::string name;
  Work work;
  int branch = 0;          ///< the stream it was recorded in, counted from the first
  std::vector<int> after;  ///< nodes of other branches
};

/// A recording in progress, of one stream or of several that events joined.
struct Recording {
  std::vector<Node> nodes;
  std::vector<cudaStream_t> streams;
  std::vector<std::vector<int>> waits;  ///< of the next node of each stream
  std::vector<int> last;                ///< node of each stream, -1: none
  bool is_broken = false;
};

}  // namespace softdevice

struct CUstream_st {
  std::uint32_t id = 0;
  int device = 0;
  std::uint32_t count = 0;
  softdevice::Clock clock;
  std::shared_ptr<softdevice::Task> last;
  std::vector<std::shared_ptr<softdevice::Task>> waits;
  std::string last_work;           ///< its last operation but for events
  std::vector<int> unnamed_waits;  ///< of the next operation (softdevice::Waits)
  std::shared_ptr<softdevice::Recording> recording;
};
struct CUevent_st {
  softdevice::Clock clock;
  std::shared_ptr<softdevice::Task> task;
  std::string behind;  ///< the operation before it in its stream that is no event
  double seconds = 0;
  std::shared_ptr<softdevice::Recording> recording;  ///< recorded there, after the node
  int node = -1;
  int branch = 0;
};
struct CUgraph_st {
  std::vector<softdevice::Node> nodes;
  int n_branches = 1;
};
struct CUgraphExec_st {
  CUgraph_st graph;
};
struct CUkern_st {
  softdevice::Program program;
};

namespace softdevice {

/// The state behind the functions of the runtime. They lock it.
class Runtime {
 public:
  static Runtime& get();

  std::recursive_mutex mutex;
  std::uint32_t n_streams = 0;
  Clock host;  ///< what the host knows to be done

  /// Puts an operation into a stream, or into its recording.
  cudaError_t enqueue(cudaStream_t stream, const std::string& name, Work work);
  /// Runs a task and all before it; then the host knows it to be done.
  cudaError_t wait_for(const std::shared_ptr<Task>& task, const Clock& clock);
  void run_all();

  /// The error that stays with the device, and the last one.
  cudaError_t sticky = cudaSuccess;
  cudaError_t last = cudaSuccess;
  cudaError_t fail(cudaError_t error);

  /// Pinned memory of the host, by its beginnings.
  std::map<std::uint64_t, std::uint64_t> pinned;
  bool is_pinned(const void* address, std::size_t bytes) const;

  /// A use of pinned memory by an operation of a stream.
  struct HostUse {
    std::uint64_t begin;
    std::uint64_t end;
    std::uint32_t operation;
    Moment moment;
    bool is_write;
  };
  /// Notes it, and tells of those before that nothing orders.
  void note_host_use(const void* memory, std::size_t bytes, const Operation& operation,
                     Moment moment, bool is_write);
  /// Tells of uses that the host has not waited for.
  void check_freed_host_memory(std::uint64_t begin, std::uint64_t end);

 private:
  void run(Task& task);
  void schedule();
  cudaError_t record(cudaStream_t stream, const std::string& name, Work work);

  std::vector<std::shared_ptr<Task>> pending_;
  std::int64_t n_run_ = 0;  ///< operations, events excluded
  std::vector<HostUse> host_uses_;
  std::mt19937_64 random_{0};
};

/// The device of this thread; tells of threads that have not chosen where there are several.
int current_device(const char* function);

/// Returns whether a recording of this thread forbids a call; tells of it and breaks the recording.
bool is_forbidden(const char* function);

/// Locks the runtime for one of its functions.
struct Call {
  Call() : lock(Runtime::get().mutex), runtime(Runtime::get()) {}
  std::lock_guard<std::recursive_mutex> lock;
  Runtime& runtime;
};

}  // namespace softdevice
