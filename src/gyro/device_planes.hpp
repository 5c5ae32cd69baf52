// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <variant>

#include "base/device.hpp"
#include "base/device_buffer.hpp"
#include "base/stream_copies.hpp"
#include "ringweave/gyroaverage.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline gyro {

/// Place for planes of results.
using ResultPlanes =
    std::variant<ComponentView<double>, ComponentView<double, MemorySpace::device>>;

/// Copies planes between the host and a device, or within it, in the order of a stream.
class DevicePlaneCopies {
 public:
  /// plane_size  of results, at most
  DevicePlaneCopies(const DeviceStream& stream, std::int64_t plane_size)
      : stream_(&stream), copies_(stream), plane_(plane_size) {}

  /// Copies values to the device. On return they have been read.
  void upload(const double* from, double* to, std::int64_t n) {
    copies_.to_device(from, to, n * std::int64_t{sizeof(double)});
  }
  /// Copies values that the device has.
  void copy(const double* from, double* to, std::int64_t n) {
    copy_on_device(from, to, n * std::int64_t{sizeof(double)}, *stream_);
  }
  /// Copies planes that follow each other, or adds them to those there, on the host alone.
  void download(const double* from, const ResultPlanes& planes, Accumulate how);

  /// Returns the bytes that it takes on the host.
  std::int64_t host_bytes() const {
    return copies_.pinned_bytes() + plane_.size() * std::int64_t{sizeof(double)};
  }

 private:
  void download_to(ComponentView<double> planes, const double* from, Accumulate how);
  void download_to(ComponentView<double, MemorySpace::device> planes, const double* from,
                   Accumulate how);

  const DeviceStream* stream_;
  StreamCopies copies_;
  HostBuffer<double> plane_;  ///< to be added
};

/// Multiplies the nodes that are their own image, of whole planes in device memory, in the order of
/// a stream.
class DeviceEdges {
 public:
  virtual ~DeviceEdges() = default;
  /// planes  [plane][y][x]
  virtual void scale(double* planes, std::int64_t n_planes, double factor) = 0;
};

/// Makes the edges on this thread's device; the stream must outlive them.
/// Error  UsageError when this build has no CUDA, ResourceError from the device.
std::unique_ptr<DeviceEdges> make_device_edges(const PlaneGrid& grid, const DeviceStream& stream);

}  // namespace ringweave::detail::inline gyro
