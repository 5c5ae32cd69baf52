// SPDX-License-Identifier: GPL-3.0-or-later
#include "convolve/ring/ring_device_memory.hpp"

#include <algorithm>
#include <complex>

#include "base/checked_cast.hpp"
#include "convolve/ring/cuda/ring_sum_plan.hpp"
#include "convolve/ring/mode_zone.hpp"
#include "fft/device_ring_fft.hpp"

namespace ringweave::detail::inline convolve {
namespace {

std::int64_t even(std::int64_t n) { return (n + 1) / 2 * 2; }

/// Returns the number of maps on the device at once: those with modes together, but at least two,
/// because sums over pixels of two maps share the kernel's values.
std::int64_t maps_at_once(const RingConvolutionPlan& plan) {
  const std::int64_t least = plan.has_modes() ? plan.maps_together() : 1;
  return std::min(std::max<std::int64_t>(least, 2), plan.spec().n_maps);
}

}  // namespace

RingDeviceLayout::RingDeviceLayout(const RingConvolutionPlan& plan)
    : n_maps(maps_at_once(plan)),
      stride(even(plan.own().n_pixels())),
      halo_stride(even(plan.pixel_halo().halo_size)),
      n_modes(plan.has_modes() ? plan.rows().size() * plan.maps_together() : 0) {}

RingDeviceMemory device_memory_of(const RingConvolutionPlan& plan) {
  constexpr std::int64_t real_bytes = sizeof(double);
  constexpr std::int64_t mode_bytes = sizeof(std::complex<double>);
  const RingDeviceLayout layout(plan);
  RingDeviceMemory memory;
  memory.maps = layout.n_maps * (2 * layout.stride + layout.halo_stride) * real_bytes;
  if (plan.has_modes()) {
    const ModeZone zone(plan);
    memory.modes = 2 * layout.n_modes * mode_bytes + device_ring_fft_bytes(zone.shape) +
                   ssize64(zone.weights) * real_bytes;
  }
  memory.tables = gpu::RingSumPlan(plan).table_bytes();
  for (const auto* kernels : {&plan.spec().kernels, &plan.spec().conjugate_kernels})
    for (const RadialKernel& kernel : *kernels) memory.tables += kernel.table().bytes();
  return memory;
}

}  // namespace ringweave::detail::inline convolve
