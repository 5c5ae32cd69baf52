// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "perf_models/machine.hpp"
#include "sphere/ring_grid.hpp"

namespace ringweave {

/// Predicted seconds of the two parts of a split kernel on a map.
struct SplitCosts {
  /// Of smoothing through a_lm of degrees up to l_cut, l_cut >= 0.
  std::function<double(int l_cut)> harmonic{};
  /// Of convolving on rings with a kernel of this support, radians.
  std::function<double(double theta_cut)> rings{};
  enum class Order { one_after_other, side_by_side };
  Order order = Order::one_after_other;

  double total(double harmonic_seconds, double ring_seconds) const;
};

/// What a split kernel is to be applied on.
struct SplitMachine {
  const Machine* machine = &typical_machine();
  int n_ranks = 1;
  int n_threads = 1;
};

/// One map, no iterations, a kernel with degrees up to lmax. The machine must outlive the costs.
/// Cost  a few plans of the grid; supports between theirs are interpolated.
SplitCosts predicted_split_costs(const std::shared_ptr<const RingGrid>& grid, int lmax,
                                 double least_theta_cut, double most_theta_cut,
                                 const SplitMachine& on = {});

}  // namespace ringweave
