// SPDX-License-Identifier: GPL-3.0-or-later
#include "convolve/ring/ring_convolution_estimate.hpp"

#include <algorithm>

namespace ringweave::detail::inline convolve {

std::int64_t halo_bytes_to_send(const RingConvolutionPlan& plan) {
  const RingConvolutionSpec& spec = plan.spec();
  return plan.pixel_halo().sent_bytes(spec.n_maps, spec.bytes_per_pixel) +
         plan.mode_halo().sent_bytes(spec.n_maps, 2 * std::int64_t{sizeof(double)});
}

RingConvolutionEstimate estimate_convolution(const RingConvolutionPlan& plan,
                                             const Machine& machine, int n_threads) {
  const auto size = static_cast<double>(plan.grid().longest_ring());
  const double share = 1.0 / n_threads;
  RingConvolutionEstimate estimate;
  for (int rank = 0; rank < plan.n_ranks(); ++rank) {
    const ConvolutionSeconds of = plan.predicted_with_repeats(rank);
    RingConvolutionEstimate one;
    one.stencil = machine.convolution_stencil.estimate(size, share * of.stencil);
    one.sectors = machine.convolution_sectors.estimate(size, share * of.sectors);
    one.ring_fft = machine.convolution_ring_fft.estimate(size, share * of.ring_fft);
    one.modes = machine.convolution_modes.estimate(size, share * of.modes);
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
