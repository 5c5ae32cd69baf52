// SPDX-License-Identifier: GPL-3.0-or-later
#include "convolve/ring/ring_convolution_estimate.hpp"

#include <algorithm>

namespace ringweave::detail::inline convolve {

namespace {

RingConvolutionEstimate on_host(const RingConvolutionPlan& plan, const Machine& machine, int rank,
                                int n_threads) {
  const auto size = static_cast<double>(plan.grid().longest_ring());
  const double share = 1.0 / n_threads;
  const ConvolutionSeconds of = plan.predicted_with_repeats(rank);
  RingConvolutionEstimate estimate;
  estimate.stencil = machine.convolution_stencil.estimate(size, share * of.stencil);
  const CostCurve& sectors =
      plan.spin() > 0 ? machine.convolution_spin : machine.convolution_sectors;
  estimate.sectors = sectors.estimate(size, share * of.sectors);
  estimate.ring_fft = machine.convolution_ring_fft.estimate(size, share * of.ring_fft);
  estimate.modes = machine.convolution_modes.estimate(size, share * of.modes);
  return estimate;
}

/// The ranks of a device take turns.
RingConvolutionEstimate on_device(const RingConvolutionPlan& plan, const DeviceCosts& device,
                                  int rank, const ConvolutionPlace& place) {
  const auto size = static_cast<double>(plan.grid().longest_ring());
  const double turns = place.ranks_of_device;
  const ConvolutionSeconds of = plan.predicted_with_repeats(rank);
  RingConvolutionEstimate estimate;
  estimate.sectors = device.convolution_pixels.estimate(size, turns * (of.stencil + of.sectors));
  estimate.ring_fft = device.convolution_ring_fft.estimate(size, turns * of.ring_fft);
  estimate.modes = device.convolution_modes.estimate(size, turns * of.modes);
  const auto map_bytes =
      static_cast<double>(plan.bands().rings(rank).n_pixels() * plan.spec().bytes_per_pixel);
  const double bytes = turns * map_bytes * static_cast<double>(plan.spec().n_maps);
  estimate.copies =
      device.to_device.estimate(map_bytes, bytes) + device.to_host.estimate(map_bytes, bytes);
  return estimate;
}

}  // namespace

std::int64_t halo_bytes_to_send(const RingConvolutionPlan& plan) {
  const RingConvolutionSpec& spec = plan.spec();
  return plan.pixel_halo().sent_bytes(spec.n_maps, spec.bytes_per_pixel) +
         plan.mode_halo().sent_bytes(spec.n_maps, 2 * std::int64_t{sizeof(double)});
}

RingConvolutionEstimate estimate_convolution(const RingConvolutionPlan& plan,
                                             const Machine& machine,
                                             const ConvolutionPlace& place) {
  const bool is_on_device = place.backend == Backend::cuda && machine.device;
  RingConvolutionEstimate estimate;
  for (int rank = 0; rank < plan.n_ranks(); ++rank) {
    const RingConvolutionEstimate one = is_on_device
                                            ? on_device(plan, *machine.device, rank, place)
                                            : on_host(plan, machine, rank, place.n_threads);
    if (one.total().seconds >= estimate.total().seconds) estimate = one;
  }
  // Only neighbours, to the north and to the south.
  if (plan.n_ranks() > 1) {
    estimate.halo =
        exchange_estimate(machine.network, static_cast<double>(halo_bytes_to_send(plan)),
                          std::min(plan.n_ranks(), 3));
  }
  return estimate;
}

Estimate estimate_planning(const RingConvolutionPlan& plan, const Machine& machine) {
  return machine.convolution_planning.estimate(static_cast<double>(plan.grid().longest_ring()),
                                               static_cast<double>(plan.grid().n_rings()));
}

}  // namespace ringweave::detail::inline convolve
