// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <string>

namespace ringweave::detail::inline base {

/// Number of GPUs this process can use; 0 without a GPU, a driver, or CUDA in this build. Never
/// throws.
int device_count() noexcept;
/// Says why device_count() is 0 and what to do; empty when there is a device.
std::string device_unavailable_reason();
/// CUDA runtime version of this build, e.g. "13.0"; empty without CUDA.
std::string cuda_version();

/// Chooses the device of a process and makes it this thread's device. Processes of a node use its
/// devices in turn, so several may share one; `local_rank` counts the processes of this node. A
/// process keeps the device it chose first, which holds its streams and memory.
/// Error  ResourceError when there is no device.
int choose_device(int local_rank);
/// Returns the device of this thread. Error  ResourceError.
int current_device();

struct DeviceMemory {
  std::int64_t free_bytes;
  std::int64_t total_bytes;
};
/// Returns the memory of this thread's device. Error  ResourceError.
DeviceMemory device_memory();

/// The product name of a device and its unique identifier.
struct DeviceIdentity {
  std::string name;
  std::string uuid;  ///< in hexadecimal
};
/// Returns the identity of this thread's device. Error  ResourceError.
DeviceIdentity device_identity();

/// Properties that a device reports. Its speed is measured (bench/).
struct DeviceProperties {
  std::string name;
  int compute_capability;  ///< 90 is 9.0
  int n_multiprocessors;
  double clock_hz;  ///< the highest
  std::int64_t memory_bytes;
  int driver_version;   ///< of CUDA, 13000 is 13.0
  int runtime_version;  ///< of CUDA, with which this program was built
};
/// Returns the properties of this thread's device. Error  ResourceError.
DeviceProperties device_properties();

/// Checks the status returned by a CUDA call. Error  ResourceError unless it is success; the
/// message says what was done, what went wrong and what to do. After some failures a process can no
/// longer use its device: then this and every other use of the device throws the message of the
/// first one.
void check_device(int status, const std::string& what);

class DeviceEvent;

/// A stream of work that a device runs in order. Created on this thread's device, where it stays.
class DeviceStream {
 public:
  DeviceStream();
  ~DeviceStream();
  DeviceStream(const DeviceStream&) = delete;
  DeviceStream& operator=(const DeviceStream&) = delete;

  /// Waits for all submitted work. Error  ResourceError when some of it failed.
  void synchronize() const;
  /// The same for destructors, which cannot report errors.
  void finish() const noexcept;
  /// Makes later work of this stream wait for the point an event has recorded.
  void wait_for(const DeviceEvent& event) const;
  void* handle() const { return handle_; }  ///< a cudaStream_t

 private:
  void* handle_ = nullptr;
};

/// Waits for the work of a stream where an error leaves a scope, so that the memory it uses may be
/// freed. The error may be that of another rank.
class FinishOnError {
 public:
  explicit FinishOnError(const DeviceStream& stream) : stream_(stream) {}
  FinishOnError(const FinishOnError&) = delete;
  FinishOnError& operator=(const FinishOnError&) = delete;
  ~FinishOnError() {
    if (std::uncaught_exceptions() > n_exceptions_) stream_.finish();
  }

 private:
  const DeviceStream& stream_;
  int n_exceptions_ = std::uncaught_exceptions();
};

/// A point in a stream.
class DeviceEvent {
 public:
  DeviceEvent();
  ~DeviceEvent();
  DeviceEvent(const DeviceEvent&) = delete;
  DeviceEvent& operator=(const DeviceEvent&) = delete;

  void record(const DeviceStream& stream);
  /// Waits until the event has occurred. Error  ResourceError.
  void wait() const;
  /// Seconds between two events that have occurred.
  double seconds_since(const DeviceEvent& earlier) const;

 private:
  friend DeviceStream;
  [[maybe_unused]] void* handle_ = nullptr;  ///< unused without CUDA
};

/// Work for a device that was recorded once and is given to it in one call. It reads and writes the
/// memory it was recorded with, which must stay where it is.
class DeviceGraph {
 public:
  DeviceGraph() = default;
  ~DeviceGraph();
  DeviceGraph(const DeviceGraph&) = delete;
  DeviceGraph& operator=(const DeviceGraph&) = delete;

  /// Records the work that `work` gives to the stream, and to others that wait for its events, in
  /// place of an earlier record; nothing runs. `work` must not wait for the device, nor allocate or
  /// free its memory.
  /// Error  ResourceError, and any error of `work`: then nothing is recorded.
  void capture(const DeviceStream& stream, const std::function<void()>& work);
  bool captured() const { return executable_ != nullptr; }
  /// Runs the record in the order of the stream.
  /// Error  InternalError when nothing is recorded, ResourceError.
  void launch(const DeviceStream& stream) const;

 private:
  void release() noexcept;

  void* executable_ = nullptr;  ///< a cudaGraphExec_t
};

}  // namespace ringweave::detail::inline base
