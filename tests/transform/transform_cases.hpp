// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ringweave/transform.hpp"
#include "transform/transform_plan.hpp"

namespace ringweave::detail::test {

using Grid = std::shared_ptr<const RingGrid>;

inline Grid share(RingGrid grid) { return std::make_shared<const RingGrid>(std::move(grid)); }

/// User-defined rings: any order, offsets, a pole, an equator, some mirrors, lengths down to 1.
Grid user_rings();
/// Every third ring of a HEALPix grid and a run of the north: a cut sky without mirrors for most
/// rings.
Grid cut_sky(std::int64_t nside);
/// Gauss-Legendre rings and weights given as user rings with an offset each.
Grid gauss_as_user_rings(int lmax);

/// One grid of every kind and size.
const std::vector<Grid>& all_grids();
const std::vector<std::vector<int>>& all_field_sets();
const std::vector<int>& all_lmax();

/// One transform to test.
struct Case {
  Grid grid;
  int lmax = 0;
  int mmax = 0;
  std::vector<int> spins{0};

  TransformSpec spec() const {
    TransformSpec asked;
    asked.grid = grid;
    asked.lmax = lmax;
    asked.mmax = mmax;
    asked.fields = FieldSet(spins);
    return asked;
  }
  std::string name() const;
};

/// Every grid with every lmax, every lmax with every field set, every field set with every grid;
/// every third case has mmax < lmax. 98 of the 686 combinations.
std::vector<Case> covering_cases();
/// Grids whose analysis is exact at the requested lmax: every lmax with every field set, the four
/// kinds of grid in turn, so that each kind has every lmax and every field set.
std::vector<Case> exact_cases();
/// A few cases with everything: caps and belt, folding, empty ranks, mixed spins.
std::vector<Case> telling_cases();

}  // namespace ringweave::detail::test
