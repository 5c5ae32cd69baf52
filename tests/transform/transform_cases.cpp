// SPDX-License-Identifier: GPL-3.0-or-later
#include "transform/transform_cases.hpp"

#include <numbers>

namespace ringweave::detail::test {

Grid user_rings() {
  using std::numbers::pi;
  return share(RingGrid::from_rings({{2.2, 0.1, 31, 0},
                                     {0.0, 0.0, 4, 0},
                                     {pi - 0.7, 1.3, 24, 0},
                                     {0.7, 0.2, 17, 0},
                                     {1e-4, 5.0, 6, 0},
                                     {pi / 2, 0.0, 64, 0},
                                     {1.0, 2.5, 1, 0},
                                     {pi - 1.2, 0.3, 50, 0},
                                     {1.2, -0.3, 50, 0},
                                     {3.0, 0.0, 2, 0}}));
}

Grid cut_sky(std::int64_t nside) {
  const RingGrid full = RingGrid::healpix(nside);
  std::vector<RingId> kept;
  for (std::int64_t r = 0; r < full.n_rings(); ++r) {
    if (r % 3 == 0 || (r > nside / 2 && r < nside)) kept.push_back(RingId{r});
  }
  return share(full.subset(kept));
}

Grid gauss_as_user_rings(int lmax) {
  const RingGrid gauss = RingGrid::gauss_legendre(lmax + 1);
  std::vector<RingSpec> rings;
  for (const Ring& ring : gauss.rings())
    rings.push_back({ring.theta, 3 * ring.theta, ring.n_phi, ring.weight});
  return share(RingGrid::from_rings(rings));
}

const std::vector<Grid>& all_grids() {
  static const std::vector<Grid> grids = [] {
    std::vector<Grid> made;
    for (const int nside : {1, 2, 3, 7, 12, 16, 31, 32})
      made.push_back(share(RingGrid::healpix(nside)));
    made.push_back(share(RingGrid::gauss_legendre(33)));
    made.push_back(share(RingGrid::gauss_legendre(64, 75)));
    made.push_back(share(RingGrid::clenshaw_curtis(65)));
    made.push_back(share(RingGrid::fejer(48, 51)));
    made.push_back(user_rings());
    made.push_back(cut_sky(16));
    return made;
  }();
  return grids;
}

const std::vector<std::vector<int>>& all_field_sets() {
  static const std::vector<std::vector<int>> sets{{0}, {1}, {2}, {3}, {0, 0, 0}, {2, 2, 2}, {0, 2}};
  return sets;
}

const std::vector<int>& all_lmax() {
  static const std::vector<int> values{0, 1, 2, 5, 32, 127, 256};
  return values;
}

std::string Case::name() const {
  std::string text = grid->name() + ", lmax " + std::to_string(lmax) + ", mmax " +
                     std::to_string(mmax) + ", spins";
  for (const int spin : spins) text.append(" ").append(std::to_string(spin));
  return text;
}

std::vector<Case> covering_cases() {
  std::vector<Case> cases;
  for (std::size_t g = 0; g < all_grids().size(); ++g) {
    for (std::size_t i = 0; i < all_lmax().size(); ++i) {
      const int lmax = all_lmax()[i];
      // A Latin square over field sets.
      const auto& spins = all_field_sets()[(g + i) % all_field_sets().size()];
      cases.push_back({all_grids()[g], lmax, (g + 2 * i) % 3 == 0 ? lmax / 2 : lmax, spins});
    }
  }
  return cases;
}

std::vector<Case> exact_cases() {
  std::vector<Case> cases;
  for (std::size_t i = 0; i < all_lmax().size(); ++i) {
    const int lmax = all_lmax()[i];
    const int equidistant = lmax == 0 ? 2 : 2 * lmax + 1;
    const std::vector<Grid> grids{
        share(RingGrid::gauss_legendre(lmax + 1)), gauss_as_user_rings(lmax),
        share(RingGrid::clenshaw_curtis(equidistant)), share(RingGrid::fejer(equidistant))};
    for (std::size_t f = 0; f < all_field_sets().size(); ++f) {
      cases.push_back({grids[(i + f) % grids.size()], lmax, lmax, all_field_sets()[f]});
    }
  }
  return cases;
}

std::vector<Case> telling_cases() {
  return {{share(RingGrid::healpix(8)), 40, 40, {0, 2}},
          {share(RingGrid::healpix(3)), 20, 15, {0, 0, 0}},
          {share(RingGrid::healpix(1)), 5, 5, {1}},
          {share(RingGrid::gauss_legendre(129)), 128, 128, {2}},
          {user_rings(), 127, 127, {3, 0}},
          {cut_sky(16), 60, 60, {0}}};
}

}  // namespace ringweave::detail::test
