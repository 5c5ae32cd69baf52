// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>

#include "convolve/split/split_costs.hpp"
#include "ringweave/convolution.hpp"

namespace ringweave::detail::test {

inline std::shared_ptr<const SplitMachine> machine_with(SplitCosts costs) {
  SplitMachine machine;
  machine.costs = std::move(costs);
  return std::make_shared<const SplitMachine>(std::move(machine));
}

/// A kernel with a long tail for lmax = 2 nside, split for white maps.
inline KernelSplitSpec split_problem(std::int64_t nside, int spin = 0) {
  KernelSplitSpec spec;
  spec.spin = spin;
  spec.nside = nside;
  const int lmax = static_cast<int>(2 * nside);
  const double sigma = 3.5 / lmax;
  for (int l = 0; l <= lmax; ++l) {
    const double square = l * (l + 1.0);
    spec.k_l.push_back(std::pow(1 + square / 100, -0.75) * std::exp(-square * sigma * sigma / 2));
  }
  spec.theta_cuts = {64.0 / lmax, 100.0 / lmax};
  return spec;
}

}  // namespace ringweave::detail::test
