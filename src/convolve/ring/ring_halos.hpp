// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>

#include "convolve/ring/ring_convolution_plan.hpp"
#include "distribute/halo/halo_exchange.hpp"
#include "distribute/halo/halo_mode_exchange.hpp"
#include "ringweave/communicator.hpp"

namespace ringweave::detail::inline convolve {

/// The exchanges that a convolution needs; none on one rank. Making them is collective.
struct RingHalos {
  RingHalos(const Communicator& comm, const RingConvolutionPlan& plan) {
    if (comm.size() == 1) return;
    if (plan.sums_pixels()) pixels.emplace(comm, plan.pixel_halo(), plan.spec().n_maps);
    if (plan.has_modes()) {
      modes.emplace(comm, plan.mode_halo(), plan.rows(), plan.mode_orders(), plan.maps_together());
    }
  }

  std::optional<HaloExchange> pixels;
  std::optional<HaloModeExchange> modes;
};

}  // namespace ringweave::detail::inline convolve
