// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>

#include "perf_models/machine.hpp"
#include "ringweave/convolution.hpp"

namespace ringweave::detail::inline convolve {

/// Predicted times of the two parts of a split kernel on a field: a map, or the two of a spin.
struct SplitCosts {
  /// Time of smoothing through a_lm of degrees up to l_cut, l_cut >= 0, on n_ranks ranks.
  std::function<Estimate(int l_cut, int n_ranks)> harmonic{};
  /// Time of a ring convolution with a kernel of this support, radians, on n_ranks ranks.
  std::function<Estimate(double theta_cut, int n_ranks)> rings{};
  /// Makes rings() exact there, where it would interpolate. May be empty.
  std::function<void(double theta_cut, int n_ranks)> plan_rings{};
  /// Time of sending the field to the ranks of the harmonic part, and their result back.
  std::function<Estimate(int n_rings, int n_harmonic)> sending{};
  bool at_once = false;  ///< see SplitBackends::concurrent
};

/// Machine that a split kernel is applied on.
struct SplitMachine {
  const Machine* machine = &typical_machine();
  int ranks_of_device = 1;  ///< that share one, where most do
  SplitCosts costs{};       ///< instead of those predicted for the machine
};

/// Returns the costs of one field, no iterations, a kernel with degrees up to lmax, on the machine
/// of a specification, which must be set and outlive them. One thread may call them at a time.
/// Cost  for every number of ranks asked for, a plan of the grid for the first and the last of
///       spec.theta_cuts and some between, each 2.5 times as wide as the one before; others are
///       interpolated until plan_rings() is called for them.
SplitCosts split_costs(const KernelSplitSpec& spec);

}  // namespace ringweave::detail::inline convolve
