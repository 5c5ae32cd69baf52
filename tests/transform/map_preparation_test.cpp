// SPDX-License-Identifier: GPL-3.0-or-later
#include "transform/map_preparation.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "ringweave/analysis.hpp"
#include "ringweave/error.hpp"
#include "ringweave/grid.hpp"
#include "ringweave/views.hpp"
#include "support/rank_groups.hpp"
#include "transform/transform_cases.hpp"
#include "transform/transform_problem.hpp"

namespace ringweave::detail::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

LocalRings my_rings(const Communicator& comm, const Grid& grid) {
  return TransformPlan(Case{grid, 8, 8, {0}}.spec(), comm.rank(), comm.size()).rings;
}

/// Sets every owned pixel to value(pixel of the grid, direction).
template <class T, class Value>
void fill(const LocalRings& rings, View<T> map, const Value& value) {
  for (std::int64_t r = 0; r < rings.n_rings(); ++r) {
    const Ring& ring = rings.ring(LocalRing{r});
    for (std::int64_t j = 0; j < ring.n_phi; ++j) {
      const double phi = ring.phi0 + 2 * std::numbers::pi * static_cast<double>(j) /
                                         static_cast<double>(ring.n_phi);
      map[rings.first_pixel(LocalRing{r}) + j] = static_cast<T>(
          value(ring.first_pixel + j, std::array{ring.sin_theta * std::cos(phi),
                                                 ring.sin_theta * std::sin(phi), ring.cos_theta}));
    }
  }
}

template <class T>
void names_the_first_bad_pixel(const Communicator& comm, const Grid& grid,
                               std::int64_t first_in_source) {
  const LocalRings rings = my_rings(comm, grid);
  const std::vector<std::string> columns{"I", "Q", "U"};
  MapBuffer<T> map(3, rings.n_pixels());
  for (std::int64_t c = 0; c < 3; ++c) {
    fill(rings, map.view().component(c),
         [](std::int64_t pixel, auto) { return pixel == 7 ? unseen : 1.0; });
  }
  const auto check = [&] {
    require_finite<T>(comm, "map.fits", columns, rings, std::as_const(map).view());
  };
  EXPECT_NO_THROW(check());
  fill(rings, map.view().component(1), [](std::int64_t pixel, auto) {
    if (pixel == 37 || pixel == 150) return std::numeric_limits<double>::quiet_NaN();
    return pixel == 101 ? -std::numeric_limits<double>::infinity() : 1.0;
  });
  EXPECT_THAT(check, ThrowsMessage<DataError>(
                         AllOf(HasSubstr("map.fits"), HasSubstr("3 pixels of column Q"),
                               HasSubstr("pixel " + std::to_string(first_in_source) + " "))));
}

TEST_P(OnEveryRankCount, ValuesThatAreNotFiniteAreCountedAndTheFirstIsNamed) {
  names_the_first_bad_pixel<double>(comm(), share(RingGrid::healpix(4)), 37);
  names_the_first_bad_pixel<float>(comm(), share(RingGrid::healpix(4)), 37);
  const RingGrid full = RingGrid::healpix(8);
  const std::vector<RingId> southern{RingId{20}, RingId{21}, RingId{22}, RingId{23}, RingId{24},
                                     RingId{25}, RingId{26}, RingId{27}, RingId{28}};
  const Grid part = share(full.subset(southern));
  names_the_first_bad_pixel<double>(comm(), part, full.ring(RingId{20}).first_pixel + 37);
}

TEST_P(OnEveryRankCount, TheMaskKnowsWhichPixelsAreUnseen) {
  const LocalRings rings = my_rings(comm(), share(RingGrid::healpix(4)));
  const auto masked = [](std::int64_t pixel) { return pixel % 5 == 0 && pixel < 100; };
  MapBuffer<float> map(3, rings.n_pixels());
  fill(rings, map.view().component(0),
       [&](std::int64_t p, auto) { return masked(p) ? unseen : 2.0; });
  fill(rings, map.view().component(1), [&](std::int64_t, auto) { return 3.0; });
  fill(rings, map.view().component(2),
       [&](std::int64_t p, auto) { return masked(p) ? unseen : 4.0; });
  const UnseenMask mask(comm(), MapView<const float>(map.view()));
  EXPECT_EQ(mask.count(0), 20);
  EXPECT_EQ(mask.count(1), 0);
  EXPECT_EQ(mask.count(2), 20);
  EXPECT_EQ(mask.total(), 40);
  EXPECT_TRUE(mask.same(comm(), 0, 2));
  EXPECT_FALSE(mask.same(comm(), 0, 1));

  const MapBuffer<float> before = copy_of(map);
  mask.set_zero(map.view());
  MapBuffer<float> expected(3, rings.n_pixels());
  fill(rings, expected.view().component(0),
       [&](std::int64_t p, auto) { return masked(p) ? 0.0 : 2.0; });
  fill(rings, expected.view().component(1), [&](std::int64_t, auto) { return 3.0; });
  fill(rings, expected.view().component(2),
       [&](std::int64_t p, auto) { return masked(p) ? 0.0 : 4.0; });
  EXPECT_TRUE(same_bits(map, expected));
  mask.set_unseen(map.view());
  EXPECT_TRUE(same_bits(map, before));
}

/// A map of these multipoles, UNSEEN where z > 0.3.
MapBuffer<double> low_multipole_map(const LocalRings& rings, const LowMultipoles& low) {
  MapBuffer<double> map(1, rings.n_pixels());
  fill(rings, map.view().component(0), [&](std::int64_t, const std::array<double, 3>& x) {
    return x[2] > 0.3
               ? unseen
               : low.monopole + low.dipole[0] * x[0] + low.dipole[1] * x[1] + low.dipole[2] * x[2];
  });
  return map;
}

TEST_P(OnEveryRankCount, MonopoleAndDipoleAreFoundOnACutSky) {
  const LowMultipoles truth{3.5, {0.1, -0.2, 0.3}};
  for (const Grid& grid :
       {share(RingGrid::healpix(8)), share(RingGrid::gauss_legendre(20)), user_rings()}) {
    SCOPED_TRACE(grid->name());
    const LocalRings rings = my_rings(comm(), grid);
    MapBuffer<double> map = low_multipole_map(rings, truth);
    const UnseenMask mask(comm(), MapView<const double>(map.view()));
    const auto pixels = map.view().component(0);
    const LowMultipoles found =
        fit_low_multipoles<double>(comm(), rings, pixels, mask, Remove::dipole);
    EXPECT_NEAR(found.monopole, truth.monopole, 1e-12);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(found.dipole[i], truth.dipole[i], 1e-12);

    const MapBuffer<double> before = copy_of(map);
    add_low_multipoles<double>(rings, pixels, mask, found, -1);
    for (std::int64_t i = 0; i < map.size(); ++i) {
      if (mask.contains(0, i)) {
        EXPECT_EQ(pixels[i], unseen);
      } else {
        EXPECT_NEAR(pixels[i], 0, 1e-12);
      }
    }
    add_low_multipoles<double>(rings, pixels, mask, found, +1);
    EXPECT_LE(relative_error(comm(), map, before).max, 1e-12);
  }
}

TEST_P(OnEveryRankCount, AMonopoleIsTheMeanOverTheSeenArea) {
  const LocalRings rings = my_rings(comm(), share(RingGrid::gauss_legendre(12)));
  MapBuffer<double> map(1, rings.n_pixels());
  // z^2 has the mean 1/3 over the sphere.
  fill(rings, map.view().component(0),
       [](std::int64_t, const std::array<double, 3>& x) { return x[2] * x[2]; });
  const UnseenMask mask(comm(), MapView<const double>(map.view()));
  const auto pixels = map.view().component(0);
  EXPECT_NEAR(fit_low_multipoles<double>(comm(), rings, pixels, mask, Remove::monopole).monopole,
              1.0 / 3, 1e-14);
  const LowMultipoles none = fit_low_multipoles<double>(comm(), rings, pixels, mask, Remove::none);
  EXPECT_EQ(none.monopole, 0);
  EXPECT_EQ(none.dipole, (std::array<double, 3>{}));
}

TEST_P(OnEveryRankCount, TooFewSeenPixelsForAFitAreRefused) {
  const LocalRings rings = my_rings(comm(), share(RingGrid::healpix(4)));
  MapBuffer<double> map(1, rings.n_pixels());
  for (const std::int64_t seen : {0, 2}) {
    fill(rings, map.view().component(0),
         [&](std::int64_t p, auto) { return p < seen ? 1.0 : unseen; });
    const UnseenMask mask(comm(), MapView<const double>(map.view()));
    const auto fit = [&](Remove what) {
      return fit_low_multipoles<double>(comm(), rings, map.view().component(0), mask, what)
          .monopole;
    };
    EXPECT_THROW(fit(Remove::dipole), DataError);
    if (seen == 0) {
      EXPECT_THROW(fit(Remove::monopole), DataError);
    } else {
      EXPECT_NEAR(fit(Remove::monopole), 1, 1e-14);
    }
  }
}

}  // namespace
}  // namespace ringweave::detail::test
