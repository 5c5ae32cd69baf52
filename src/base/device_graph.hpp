// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>

#include "base/device.hpp"

namespace ringweave {

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
