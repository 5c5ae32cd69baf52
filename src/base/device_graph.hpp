// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>

#include "base/device.hpp"

namespace ringweave {

/// Device work that is captured once and launched in one call. It uses the memory it was captured
/// with, which must not move.
class DeviceGraph {
 public:
  DeviceGraph() = default;
  ~DeviceGraph();
  DeviceGraph(const DeviceGraph&) = delete;
  DeviceGraph& operator=(const DeviceGraph&) = delete;

  /// Captures what `work` submits to the stream, and to streams that wait for its events; nothing
  /// runs. Replaces an earlier capture. `work` must not wait for the device, nor allocate or free
  /// its memory. Error  ResourceError, and whatever `work` throws; then nothing is captured.
  void capture(const DeviceStream& stream, const std::function<void()>& work);
  bool captured() const { return executable_ != nullptr; }
  /// Launches in stream order. Error  InternalError when nothing is captured; ResourceError.
  void launch(const DeviceStream& stream) const;

 private:
  void release() noexcept;

  void* executable_ = nullptr;  ///< a cudaGraphExec_t
};

}  // namespace ringweave
