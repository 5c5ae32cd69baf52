// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace ringweave {

/// GPUs this process can use; 0 where there is none, no driver, or no CUDA in this build. Never
/// throws.
int device_count() noexcept;
/// Why device_count() is 0, and what to do; empty when there is a device.
std::string device_obstacle();
/// The CUDA runtime of this build, e.g. "13.0"; empty: this build has no CUDA.
std::string cuda_version();

/// The device of a process: processes of a node take its devices in turn, so several may share
/// one. `local_rank` counts the processes of this node. Makes it this thread's device. A process
/// stays on the device it chose first, where its streams and memory are. Error
/// ResourceError when there is none.
int choose_device(int local_rank);
/// The device of this thread. Error  ResourceError.
int current_device();

struct DeviceMemory {
  std::int64_t free_bytes;
  std::int64_t total_bytes;
};
/// Memory of this thread's device. Error  ResourceError.
DeviceMemory device_memory();

/// A device by what its maker calls it, and by what no other device has.
struct DeviceIdentity {
  std::string name;
  std::string uuid;  ///< as hexadecimal digits
};
/// Of this thread's device. Error  ResourceError.
DeviceIdentity device_identity();

/// What a device says of itself; what it does is measured (bench/).
struct DeviceProperties {
  std::string name;
  int compute_capability;  ///< 90 is 9.0
  int n_multiprocessors;
  double clock_hz;  ///< the highest
  std::int64_t memory_bytes;
  int driver_version;   ///< of CUDA, 13000 is 13.0
  int runtime_version;  ///< what this program was built with
};
/// Of this thread's device. Error  ResourceError.
DeviceProperties device_properties();

/// What a CUDA call returned. Error  ResourceError unless it is success: what was done, what went
/// wrong, what to do. After some failures a process cannot use its device any more: then this and
/// everything else that needs the device throws the message of the first one.
void check_device(int status, const std::string& what);

/// Work on a device in order. Streams are made on this thread's device and stay there.
class DeviceStream {
 public:
  DeviceStream();
  ~DeviceStream();
  DeviceStream(const DeviceStream&) = delete;
  DeviceStream& operator=(const DeviceStream&) = delete;

  /// Waits for all that was given to the stream. Error  ResourceError when some of it failed.
  void synchronize() const;
  void* handle() const { return handle_; }  ///< a cudaStream_t

 private:
  void* handle_ = nullptr;
};

/// A point in a stream.
class DeviceEvent {
 public:
  DeviceEvent();
  ~DeviceEvent();
  DeviceEvent(const DeviceEvent&) = delete;
  DeviceEvent& operator=(const DeviceEvent&) = delete;

  void record(const DeviceStream& stream);
  /// What is given to `stream` from now on waits for this event.
  void hold(const DeviceStream& stream) const;
  /// Waits until it has happened. Error  ResourceError.
  void wait() const;
  /// Between two events that have happened.
  double seconds_since(const DeviceEvent& earlier) const;

 private:
  void* handle_ = nullptr;
};

/// Work for a device that was recorded once and is given to it in one call. It reads and writes the
/// memory it was recorded with, which must stay where it is.
class DeviceGraph {
 public:
  DeviceGraph() = default;
  ~DeviceGraph();
  DeviceGraph(const DeviceGraph&) = delete;
  DeviceGraph& operator=(const DeviceGraph&) = delete;

  /// Records what `work` gives to the stream, and to others that wait for its events, instead of
  /// what was recorded before; nothing runs. `work` must not wait for the device, nor allocate or
  /// free its memory. Error  ResourceError, and what `work` throws: then nothing is recorded.
  void capture(const DeviceStream& stream, const std::function<void()>& work);
  bool captured() const { return executable_ != nullptr; }
  /// In the order of the stream. Error  InternalError when nothing is recorded, ResourceError.
  void launch(const DeviceStream& stream) const;

 private:
  void release() noexcept;

  void* executable_ = nullptr;  ///< a cudaGraphExec_t
};

}  // namespace ringweave
