// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/plot/gnomonic.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <numbers>
#include <utility>
#include <vector>

#include "ringweave/error.hpp"
#include "support/angles.hpp"

namespace ringweave::detail::test {
namespace {

TEST(SkyPatch, PlacesAndPointsAreInverse) {
  for (const SkyPoint& centre :
       {SkyPoint{90 * degree, 0}, SkyPoint{20 * degree, 3}, SkyPoint{179 * degree, -1}}) {
    const SkyPatch patch(centre, 40 * degree);
    const auto middle = patch.place(centre);
    ASSERT_TRUE(middle);
    EXPECT_NEAR(middle->x, 0, 1e-14);
    EXPECT_NEAR(middle->y, 0, 1e-14);
    for (const auto& [x, y] : {std::pair{0.3, -0.8}, std::pair{-1.0, 1.0}, std::pair{0.0, 0.5}}) {
      const auto place = patch.place(patch.point({x, y}));
      ASSERT_TRUE(place);
      EXPECT_NEAR(place->x, x, 1e-12);
      EXPECT_NEAR(place->y, y, 1e-12);
    }
  }
}

TEST(SkyPatch, LongitudeGrowsToTheLeftAndNorthIsUp) {
  const SkyPatch patch({90 * degree, 50 * degree}, 20 * degree);
  EXPECT_NEAR(patch.place({90 * degree, 60 * degree})->x, -1, 1e-12);
  EXPECT_NEAR(patch.place({80 * degree, 50 * degree})->y, 1, 1e-12);
  EXPECT_FALSE(patch.place({90 * degree, 230 * degree}));
}

TEST(SkyPatch, OfNoSizeIsRefused) {
  for (const double size : {0.0, -1.0, 2.0, std::nan("")})
    EXPECT_THROW(SkyPatch({1, 1}, size), UsageError) << size;
}

TEST(SamplePatch, ShowsTheNearestPixels) {
  const auto grid = std::make_shared<const RingGrid>(RingGrid::healpix(64));
  const LocalRings rings(grid);
  std::vector<double> map;
  for (const Ring& ring : grid->rings()) {
    for (std::int64_t j = 0; j < ring.n_phi; ++j)
      map.push_back(ring.theta < 60 * degree ? unseen : ring.theta);
  }
  const SkyPatch patch({70 * degree, 3}, 30 * degree);
  constexpr int width = 64;
  const std::vector<double> raster = sample_patch(
      Communicator::self(), rings, View<const double>(map.data(), rings.n_pixels()), patch, width);
  ASSERT_EQ(raster.size(), 64U * 64U);
  EXPECT_TRUE(is_unseen(raster[width / 2]));
  for (int j = width / 2; j < width; ++j) {
    const SkyPoint point = patch.point({0, 1 - 2 * (j + 0.5) / width});
    EXPECT_NEAR(raster[static_cast<std::size_t>(j * width + width / 2)], point.theta, 1 * degree);
  }
}

}  // namespace
}  // namespace ringweave::detail::test
