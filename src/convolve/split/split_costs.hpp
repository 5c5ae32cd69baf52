// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "perf_models/estimate.hpp"
#include "perf_models/machine.hpp"
#include "ringweave/grid.hpp"
#include "ringweave/options.hpp"

namespace ringweave::detail::inline convolve {

/// How the harmonic part of a split kernel is computed.
struct HarmonicPart {
  Backend backend = Backend::host;
  /// Ranks that do both parts do this one by a thread of its own beside the other, on a copy of the
  /// maps: worth it where it is on a device. MPI must admit several threads, else one after the
  /// other.
  bool at_once = false;
};

/// Predicted times of the two parts of a split kernel on a map.
struct SplitCosts {
  /// Time of smoothing through a_lm of degrees up to l_cut, l_cut >= 0, on n_ranks ranks.
  std::function<Estimate(int l_cut, int n_ranks)> harmonic{};
  /// Time of a ring convolution with a kernel of this support, radians, on n_ranks ranks.
  std::function<Estimate(double theta_cut, int n_ranks)> rings{};
  /// Makes rings() exact there, where it would interpolate. May be empty.
  std::function<void(double theta_cut, int n_ranks)> plan_rings{};
  /// Time of sending the map to the ranks of the harmonic part, and their result back.
  std::function<Estimate(int n_rings, int n_harmonic)> sending{};
  bool at_once = false;  ///< see HarmonicPart
};

/// Machine and ranks that a split kernel is applied on.
struct SplitMachine {
  const Machine* machine = &typical_machine();
  int n_ranks = 1;
  int n_threads = 1;
  HarmonicPart harmonic{};
  int ranks_of_device = 1;  ///< that share one, where most do
};

/// One map, no iterations, a kernel with degrees up to lmax; up to on.n_ranks ranks. The machine
/// must outlive the costs. One thread may call them at a time.
/// theta_cuts  supports that will be asked for, radians, ascending
/// Cost        for every number of ranks asked for, a plan of the grid for the first and the last
///             support and some between, each 2.5 times as wide as the one before; others are
///             interpolated until plan_rings() is called for them.
SplitCosts predicted_split_costs(const std::shared_ptr<const RingGrid>& grid, int lmax,
                                 std::span<const double> theta_cuts, const SplitMachine& on = {});

}  // namespace ringweave::detail::inline convolve
