// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>
#include <memory>

#include "base/device.hpp"
#include "convolve/ring/ring_convolution_plan.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline convolve {

/// The sums of a ring convolution over modes and pixels in device memory. Calls are enqueued on a
/// stream and return at once; device errors are reported when it is synchronized.
class DeviceRingSums {
 public:
  virtual ~DeviceRingSums() = default;

  /// Multiplies ring modes by the modes of the plan's kernels, for maps [first_map, first_map + n).
  /// in   [position][map], of plan.rows(), times the weights of their rings
  /// out  [position][map], of plan.own_rows(); another memory
  virtual void multiply(std::int64_t first_map, std::int64_t n_maps, const std::complex<double>* in,
                        std::complex<double>* out) = 0;

  /// Sums the pairs of rings without modes over pixels, for maps from first_map on: writes own
  /// rings that have no modes and adds to the others. halo  pixels of rings of other ranks, in the
  /// layout of plan.pixel_halo()
  virtual void sum_pixels(std::int64_t first_map, AnyConstMapView<MemorySpace::device> own,
                          AnyConstMapView<MemorySpace::device> halo,
                          AnyMapView<MemorySpace::device> out) = 0;

  virtual std::int64_t device_bytes() const = 0;
};

/// Makes the sums on this thread's device; calls are enqueued on `stream`, which must outlive them,
/// as must the plan. Error  UsageError when this build has no CUDA, ResourceError from the device.
std::unique_ptr<DeviceRingSums> make_device_ring_sums(const RingConvolutionPlan& plan,
                                                      const DeviceStream& stream);

}  // namespace ringweave::detail::inline convolve
