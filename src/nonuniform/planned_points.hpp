// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>

#include "distribute/points/point_exchange.hpp"
#include "nonuniform/fine_grid.hpp"
#include "nonuniform/tap_choice.hpp"
#include "nonuniform/tap_kernel.hpp"
#include "ringweave/points.hpp"

namespace ringweave::detail::inline nonuniform {

/// The taps and fine rows chosen for a specification and a number of points, and the points at the
/// ranks that own their rows.
struct PlannedPoints {
  PlannedPoints(const Communicator& comm, const PointSpec& asked, const PointAngles& angles);

  bool has_psi;  ///< some rank's points have it
  PointSpec spec;
  TapChoice choice;
  TapKernel theta_kernel;
  TapKernel phi_kernel;
  FineGrid grid;
  PointExchange exchange;
  PointReport report;
};

}  // namespace ringweave::detail::inline nonuniform
