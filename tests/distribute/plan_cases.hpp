// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/checked_cast.hpp"
#include "distribute/exchange/exchange_plan.hpp"

namespace ringweave::detail::test {

/// A grid and the other inputs of a plan.
struct PlanCase {
  std::string name;
  std::shared_ptr<const RingGrid> grid;
  ModeLimits limits;
  FoldRule fold;

  PlanCase(std::string case_name, RingGrid some_grid, int lmax, int mmax, int spin)
      : name(std::move(case_name)),
        grid(std::make_shared<const RingGrid>(std::move(some_grid))),
        limits(*grid, lmax, mmax, spin),
        fold(FoldRule::for_grid(*grid, mmax)) {}

  OrderDistribution orders(int n_ranks) const { return {limits, fold, n_ranks}; }
  RingDistribution rings(int n_ranks) const { return {grid, limits, n_ranks}; }
  /// One band and its mirror per rank, of about the same area, as for convolutions.
  RingDistribution single_bands(int n_ranks) const {
    std::vector<std::int64_t> pixels;
    for (const Ring& ring : grid->rings()) pixels.push_back(ring.n_phi);
    return {grid, pixels, n_ranks};
  }
};

/// Every third ring and a gap around the equator: pairs that lack one side.
inline RingGrid cut_sky(const RingGrid& full) {
  std::vector<RingId> kept;
  for (std::int64_t r = 0; r < full.n_rings(); ++r) {
    const bool north = 2 * r < full.n_rings();
    if (north ? r % 3 != 1 : r % 5 != 0) kept.push_back(RingId{r});
  }
  return full.subset(kept);
}

/// Small enough to list every mode; with and without pruning, folding, an equator ring, poles and
/// missing mirrors.
inline std::vector<PlanCase> small_cases() {
  std::vector<PlanCase> cases;
  cases.emplace_back("HealpixUnfolded", RingGrid::healpix(8), 16, 16, 0);
  cases.emplace_back("HealpixFolded", RingGrid::healpix(8), 23, 23, 0);
  cases.emplace_back("HealpixOddNsideSpin2", RingGrid::healpix(5), 14, 14, 2);
  cases.emplace_back("HealpixPrunedFolded", RingGrid::healpix(96), 287, 287, 0);
  cases.emplace_back("HealpixPrunedFoldedSpin3", RingGrid::healpix(64), 191, 180, 3);
  cases.emplace_back("HealpixFewOrders", RingGrid::healpix(16), 47, 3, 0);
  cases.emplace_back("OneRingPair", RingGrid::clenshaw_curtis(2), 0, 0, 0);
  cases.emplace_back("SmallestHealpix", RingGrid::healpix(1), 2, 2, 0);
  cases.emplace_back("Gauss", RingGrid::gauss_legendre(33), 32, 32, 2);
  cases.emplace_back("GaussManyTurns", RingGrid::gauss_legendre(12, 6), 40, 40, 0);
  cases.emplace_back("GaussOddPeriod", RingGrid::gauss_legendre(9, 7), 23, 23, 0);
  cases.emplace_back("ClenshawPruned", RingGrid::clenshaw_curtis(301), 150, 150, 0);
  cases.emplace_back("CutSky", cut_sky(RingGrid::healpix(32)), 95, 95, 2);
  cases.emplace_back("SouthernBand",
                     RingGrid::healpix(8).subset(std::vector{RingId{20}, RingId{21}, RingId{29}}),
                     23, 23, 0);
  return cases;
}

}  // namespace ringweave::detail::test
