// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <algorithm>
#include <numbers>

#include "support/rank_groups.hpp"
#include "transform/transform_cases.hpp"
#include "transform/transform_problem.hpp"

namespace ringweave::detail::test {
namespace {

/// Sets x = alpha x + beta y.
template <class Element>
void combine(ComponentBuffer<Element>& x, double alpha, double beta,
             const ComponentBuffer<Element>& y) {
  for (std::int64_t i = 0; i < x.n_components() * x.size(); ++i) {
    x.view().data()[i] = alpha * x.view().data()[i] + beta * y.view().data()[i];
  }
}

TEST_P(OnEveryRankCount, SynthesisAndItsAdjointAreLinear) {
  for (const Case& chosen : telling_cases()) {
    SCOPED_TRACE(chosen.name());
    SphericalHarmonicTransform transform(comm(), chosen.spec());
    AlmBuffer<double> a = random_alm(transform, 1);
    const AlmBuffer<double> b = random_alm(transform, 2);
    MapBuffer<double> f = synthesized(transform, a);
    combine(f, 2.5, -0.3, synthesized(transform, b));
    combine(a, 2.5, -0.3, b);
    expect_within(relative_error(comm(), synthesized(transform, a), f), tolerance::rank_invariance);

    MapBuffer<double> x = random_map(transform, 1);
    const MapBuffer<double> y = random_map(transform, 2);
    AlmBuffer<double> g = adjoint_of(transform, x);
    combine(g, 2.5, -0.3, adjoint_of(transform, y));
    combine(x, 2.5, -0.3, y);
    expect_within(relative_error(comm(), adjoint_of(transform, x), g), tolerance::rank_invariance);
  }
}

/// Rotates every ring eastwards by turns / of of a full circle, a whole number of its pixels.
MapBuffer<double> turned(const SphericalHarmonicTransform& transform, const MapBuffer<double>& map,
                         std::int64_t turns, std::int64_t of) {
  MapBuffer<double> result = copy_of(map);
  for (std::int64_t r = 0; r < transform.rings().n_rings(); ++r) {
    const std::int64_t n = transform.rings().ring(LocalRing{r}).n_phi;
    const std::int64_t shift = n / of * turns;
    for (std::int64_t c = 0; c < map.n_components(); ++c) {
      double* const first =
          result.view().component(c).data() + transform.rings().first_pixel(LocalRing{r});
      std::rotate(first, first + n - shift, first + n);
    }
  }
  return result;
}

/// Returns a_lm exp(-2 pi i m turns / of).
AlmBuffer<double> turned(const SphericalHarmonicTransform& transform, const AlmBuffer<double>& alm,
                         std::int64_t turns, std::int64_t of) {
  AlmBuffer<double> result = copy_of(alm);
  const AlmLayout& layout = transform.alm_layout();
  for (std::int64_t row = 0; row < layout.n_orders(); ++row) {
    const std::int64_t m = layout.order(row);
    const double angle =
        -2 * std::numbers::pi * static_cast<double>(m * turns % of) / static_cast<double>(of);
    for (std::int64_t c = 0; c < alm.n_components(); ++c) {
      for (int l = layout.order(row); l <= layout.lmax(); ++l) {
        result.view().component(c)[layout.index(row, l)] *= std::polar(1.0, angle);
      }
    }
  }
  return result;
}

TEST_P(OnEveryRankCount, TurningTheSphereMultipliesEachOrderByItsPhase) {
  struct Turn {
    Case chosen;
    std::int64_t turns;
    std::int64_t of;
  };
  const std::vector<Turn> list = {
      {{share(RingGrid::healpix(7)), 32, 32, {0, 2}}, 1, 4},
      {{share(RingGrid::healpix(16)), 47, 47, {1}}, 3, 4},
      {{share(RingGrid::gauss_legendre(65, 150)), 127, 100, {0}}, 7, 150},
      {{share(RingGrid::clenshaw_curtis(65, 135)), 32, 32, {3, 2}}, 100, 135},
      {{share(RingGrid::fejer(40, 81)), 60, 60, {2}}, 1, 81},
  };
  for (const auto& [chosen, turns, of] : list) {
    SCOPED_TRACE(chosen.name());
    SphericalHarmonicTransform transform(comm(), chosen.spec());
    const AlmBuffer<double> alm = random_alm(transform);
    expect_within(relative_error(comm(), synthesized(transform, turned(transform, alm, turns, of)),
                                 turned(transform, synthesized(transform, alm), turns, of)),
                  tolerance::rank_invariance);
    const MapBuffer<double> map = random_map(transform);
    expect_within(relative_error(comm(), adjoint_of(transform, turned(transform, map, turns, of)),
                                 turned(transform, adjoint_of(transform, map), turns, of)),
                  tolerance::rank_invariance);
  }
}

}  // namespace
}  // namespace ringweave::detail::test
