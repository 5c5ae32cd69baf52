// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/plot/mollweide.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <numbers>
#include <utility>
#include <vector>

#include "ringweave/error.hpp"
#include "ringweave/grid.hpp"

namespace ringweave::detail {
namespace {

constexpr double pi = std::numbers::pi;
constexpr int width = 240;
constexpr int height = 120;

double smooth(double theta, double phi) {
  return 0.3 + std::cos(theta) + std::sin(theta) * std::cos(phi - 0.4) +
         std::sin(theta) * std::sin(theta) * std::sin(2 * phi);
}

std::vector<double> map_of(const RingGrid& grid) {
  std::vector<double> map;
  for (const Ring& ring : grid.rings()) {
    for (std::int64_t j = 0; j < ring.n_phi; ++j) {
      map.push_back(smooth(ring.theta, ring.phi0 + 2 * pi * static_cast<double>(j) /
                                                       static_cast<double>(ring.n_phi)));
    }
  }
  return map;
}

View<const double> view(const std::vector<double>& map) {
  return {map.data(), static_cast<std::int64_t>(map.size())};
}

PlanePoint centre_of(int column, int row) {
  return {-2 + 4 * (column + 0.5) / width, 1 - 2 * (row + 0.5) / height};
}

/// Returns the raster pixel of a point of the sky.
std::size_t pixel_at(double theta, double phi) {
  const PlanePoint point = mollweide({theta, phi});
  const auto column = static_cast<std::size_t>((point.x + 2) / 4 * width);
  const auto row = static_cast<std::size_t>((1 - point.y) / 2 * height);
  return row * width + column;
}

TEST(MollweideView, HasItsCentreInTheMiddleAndNorthUp) {
  for (const SkyPoint centre : {SkyPoint{pi / 2, 0}, SkyPoint{pi / 2, 2}, SkyPoint{0.7, -1}}) {
    const MollweideView turned(centre);
    const PlanePoint middle = turned.place(centre);
    EXPECT_NEAR(middle.x, 0, 1e-12);
    EXPECT_NEAR(middle.y, 0, 1e-12);
    const PlanePoint north = turned.place({centre.theta - 0.1, centre.phi});
    EXPECT_NEAR(north.x, 0, 1e-12);
    EXPECT_GT(north.y, 0);
    EXPECT_LT(turned.place({centre.theta, centre.phi + 0.1}).x, 0);
    for (const PlanePoint place : {PlanePoint{0.3, 0.2}, PlanePoint{-1.5, -0.5}}) {
      const auto point = turned.point(place);
      ASSERT_TRUE(point);
      EXPECT_NEAR(turned.place(*point).x, place.x, 1e-11);
      EXPECT_NEAR(turned.place(*point).y, place.y, 1e-11);
    }
    EXPECT_FALSE(turned.point({1.9, 0.9}));
  }
}

TEST(MollweideView, IsWhatASampleShows) {
  const auto grid = std::make_shared<const RingGrid>(RingGrid::healpix(64));
  const std::vector<double> map = map_of(*grid);
  for (const SkyPoint centre : {SkyPoint{pi / 2, 2}, SkyPoint{0.7, -1}}) {
    const MollweideView turned(centre);
    const std::vector<double> raster =
        sample_mollweide(Communicator::self(), LocalRings(grid), view(map), width, height, turned);
    for (const auto& [column, row] : {std::pair{120, 60}, std::pair{30, 50}, std::pair{150, 110}}) {
      const auto point = turned.point(centre_of(column, row));
      ASSERT_TRUE(point);
      EXPECT_NEAR(raster[static_cast<std::size_t>(row * width + column)],
                  smooth(point->theta, point->phi), 0.03);
    }
    EXPECT_TRUE(std::isnan(raster[0]));
  }
}

TEST(Mollweide, ForwardThenInverseIsTheSamePoint) {
  for (double theta = 0.01; theta < pi; theta += 0.05) {
    for (double phi = -3.1; phi < pi; phi += 0.3) {
      const auto back = inverse_mollweide(mollweide({theta, phi}));
      ASSERT_TRUE(back);
      EXPECT_NEAR(back->theta, theta, 1e-12);
      EXPECT_NEAR(back->phi, phi, 1e-11) << "theta " << theta;
    }
  }
}

TEST(Mollweide, PutsPolesEquatorAndRimWhereTheyBelong) {
  EXPECT_NEAR(mollweide({0, 1}).y, 1, 1e-15);
  EXPECT_NEAR(mollweide({pi, 1}).y, -1, 1e-15);
  EXPECT_NEAR(mollweide({pi / 2, pi}).x, -2, 1e-14);
  EXPECT_NEAR(mollweide({pi / 2, pi / 2}).x, -1, 1e-14) << "longitude grows to the left";
  EXPECT_NEAR(mollweide({pi / 2, pi / 2 + 4 * pi}).x, -1, 1e-14);
  EXPECT_FALSE(inverse_mollweide({1.9, 0.5}));
  EXPECT_FALSE(inverse_mollweide({0, 1.01}));
}

TEST(Mollweide, KeepsAreas) {
  // The cap around the pole down to theta has the share (1 - cos theta) / 2 of sphere and ellipse.
  for (const double theta : {0.1, 0.5, 1.0, 1.5}) {
    const double y = mollweide({theta, 0}).y;
    const double cap = (std::acos(y) - y * std::sqrt(1 - y * y)) / pi;
    EXPECT_NEAR(cap, (1 - std::cos(theta)) / 2, 1e-14);
  }
}

class SampledGrid : public testing::TestWithParam<const char*> {};

TEST_P(SampledGrid, ShowsTheFunctionEverywhereOnTheSphere) {
  const auto grid = std::make_shared<const RingGrid>(RingGrid::from_name(GetParam()));
  const std::vector<double> map = map_of(*grid);
  const auto raster =
      sample_mollweide(Communicator::self(), LocalRings(grid), view(map), width, height);
  ASSERT_EQ(raster.size(), static_cast<std::size_t>(width * height));
  int seen = 0;
  for (int row = 0; row < height; ++row) {
    for (int column = 0; column < width; ++column) {
      const double value = raster[static_cast<std::size_t>(row * width + column)];
      const auto place = inverse_mollweide(centre_of(column, row));
      if (!place) continue;
      ++seen;
      // The nearest pixels are up to 0.012 away, and the rim compresses longitudes.
      ASSERT_NEAR(value, smooth(place->theta, place->phi), 0.15) << column << ' ' << row;
    }
  }
  EXPECT_NEAR(seen, pi / 4 * width * height, 100);
  EXPECT_TRUE(std::isnan(raster[0]));
  EXPECT_NEAR(raster[pixel_at(0.8, 0.6)], smooth(0.8, 0.6), 0.03);
}

INSTANTIATE_TEST_SUITE_P(Grids, SampledGrid,
                         testing::Values("healpix:64", "gauss:191", "clenshaw:193", "fejer:192"));

TEST(SampleMollweide, TakesTheNearestPixelOfARingGridOfUnevenRings) {
  std::vector<RingSpec> specs;
  for (int i = 0; i < 150; ++i) {
    specs.push_back({.theta = pi * (i + 0.5 + 0.3 * std::sin(7.0 * i)) / 150,
                     .phi0 = 0.1 * i,
                     .n_phi = 300 + i});
  }
  const auto grid = std::make_shared<const RingGrid>(RingGrid::from_rings(specs));
  const std::vector<double> map = map_of(*grid);
  const auto raster =
      sample_mollweide(Communicator::self(), LocalRings(grid), view(map), width, height);
  for (double theta = 0.2; theta < 3; theta += 0.1) {
    EXPECT_NEAR(raster[pixel_at(theta, 1.2)], smooth(theta, 1.2), 0.08);
  }
}

TEST(SampleMollweide, FloatMapsAreSampledAlike) {
  const auto grid = std::make_shared<const RingGrid>(RingGrid::healpix(32));
  const std::vector<double> map = map_of(*grid);
  const std::vector<float> single(map.begin(), map.end());
  const LocalRings rings(grid);
  const auto expected = sample_mollweide(Communicator::self(), rings, view(map), width, height);
  const auto raster =
      sample_mollweide(Communicator::self(), rings,
                       View<const float>(single.data(), rings.n_pixels()), width, height);
  for (std::size_t i = 0; i < raster.size(); ++i) {
    if (std::isnan(expected[i])) continue;
    ASSERT_NEAR(raster[i], expected[i], 1e-6);
  }
}

TEST(SampleMollweide, UnseenPixelsStayUnseenAndDoNotLeak) {
  const auto grid = std::make_shared<const RingGrid>(RingGrid::healpix(32));
  std::vector<double> map = map_of(*grid);
  for (std::size_t p = 0; p < map.size() / 2; ++p) map[p] = unseen;
  const auto raster =
      sample_mollweide(Communicator::self(), LocalRings(grid), view(map), width, height);
  EXPECT_TRUE(is_unseen(raster[pixel_at(0.7, 0.5)]));
  EXPECT_NEAR(raster[pixel_at(2.2, 0.5)], smooth(2.2, 0.5), 0.05);
  for (const double value : raster) {
    EXPECT_TRUE(std::isnan(value) || is_unseen(value) || std::abs(value) < 4);
  }
}

TEST(SampleMollweide, PlacesFarFromEveryRingOfACutSkyAreUnseen) {
  const RingGrid full = RingGrid::healpix(32);
  std::vector<RingId> kept;
  for (std::int64_t r = 0; r < 40; ++r) kept.push_back(RingId{r});
  const auto grid = std::make_shared<const RingGrid>(full.subset(kept));
  const std::vector<double> map = map_of(*grid);
  const auto raster =
      sample_mollweide(Communicator::self(), LocalRings(grid), view(map), width, height);
  EXPECT_NEAR(raster[pixel_at(0.5, 0.5)], smooth(0.5, 0.5), 0.08);
  EXPECT_TRUE(is_unseen(raster[pixel_at(2.0, 0.5)]));
}

TEST(SampleMollweide, RanksPartsAddUpToTheWholeSky) {
  const auto grid = std::make_shared<const RingGrid>(RingGrid::healpix(16));
  const std::vector<double> map = map_of(*grid);
  const auto whole =
      sample_mollweide(Communicator::self(), LocalRings(grid), view(map), width, height);
  const std::vector<LocalRings> parts{{grid, {{0, 10}, {20, 43}, {53, 63}}},
                                      {grid, {{10, 20}, {43, 53}}}};
  std::vector<int> shown(whole.size());
  for (const LocalRings& part : parts) {
    std::vector<double> local;
    for (const PixelSlab& slab : part.slabs()) {
      local.insert(local.end(), map.begin() + slab.first_global,
                   map.begin() + slab.first_global + slab.count);
    }
    const auto raster = sample_mollweide(Communicator::self(), part, view(local), width, height);
    for (std::size_t i = 0; i < raster.size(); ++i) {
      if (std::isnan(raster[i]) || is_unseen(raster[i])) continue;
      ++shown[i];
      ASSERT_NEAR(raster[i], whole[i], 0.3);
    }
  }
  for (std::size_t i = 0; i < whole.size(); ++i) {
    if (std::isnan(whole[i])) {
      EXPECT_EQ(shown[i], 0);
    } else {
      EXPECT_GE(shown[i], 1);
    }
  }
}

TEST(SampleMollweide, RefusesAMapOfTheWrongSize) {
  const auto grid = std::make_shared<const RingGrid>(RingGrid::healpix(2));
  const std::vector<double> map(47, 0.0);
  EXPECT_THROW(sample_mollweide(Communicator::self(), LocalRings(grid), view(map), width, height),
               UsageError);
}

}  // namespace
}  // namespace ringweave::detail
