// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/lat_lon.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "base/checked_cast.hpp"
#include "io_support.hpp"

namespace ringweave::detail {
namespace {

std::vector<double> steps(double first, double step, int n) {
  std::vector<double> values;
  for (int i = 0; i < n; ++i) values.push_back(first + i * step);
  return values;
}

std::vector<double> latitudes_of(const RingGrid& grid) {
  std::vector<double> values;
  for (std::int64_t ring = 0; ring < grid.n_rings(); ++ring)
    values.push_back(latitude_of(grid, ring));
  return values;
}

LatLonGrid find(const std::vector<double>& latitudes, const std::vector<double>& longitudes) {
  return find_lat_lon_grid("FILE", latitudes, longitudes);
}

/// Every row and column must lie where the grid has the ring and the pixel.
void expect_places(const LatLonGrid& found, const std::vector<double>& latitudes,
                   const std::vector<double>& longitudes) {
  constexpr double degree = std::numbers::pi / 180;
  const RingRange rings = found.order.rings();
  ASSERT_EQ(rings.size(), ssize64(latitudes));
  for (std::int64_t r = rings.begin; r < rings.end; ++r) {
    const Ring& ring = found.grid->ring(RingId{r});
    EXPECT_NEAR(90 - ring.theta / degree, latitudes[to_size(found.order.row_of(r))], 1e-4);
    for (std::int64_t pixel = 0; pixel < ring.n_phi; ++pixel) {
      const double longitude = ring.phi0 + 2 * std::numbers::pi * static_cast<double>(pixel) /
                                               static_cast<double>(ring.n_phi);
      const double stored = longitudes[to_size(found.order.column_of(pixel))] * degree;
      EXPECT_NEAR(std::sin((longitude - stored) / 2), 0, 1e-6);
    }
  }
}

TEST(LatLonGrid, EquidistantAndGaussianLatitudesAreKnownInBothDirections) {
  for (const char* name :
       {"clenshaw:9,16", "clenshaw:2,16", "fejer:8,16", "fejer:9,16", "fejer:2,16", "gauss:7,16",
        "gauss:8,16", "gauss:1,16", "gauss:127,16"}) {
    std::vector<double> latitudes = latitudes_of(RingGrid::from_name(name));
    const std::vector<double> longitudes = steps(0, 22.5, 16);
    for (int direction = 0; direction < 2; ++direction) {
      const LatLonGrid found = find(latitudes, longitudes);
      EXPECT_EQ(found.grid->kind(), RingGrid::from_name(name).kind()) << name;
      EXPECT_EQ(found.grid->n_rings(), ssize64(latitudes)) << name;
      expect_places(found, latitudes, longitudes);
      std::reverse(latitudes.begin(), latitudes.end());
    }
  }
}

TEST(LatLonGrid, LongitudesBeginAnywhereAndGoBothWays) {
  const std::vector<double> latitudes = steps(-87.5, 5, 36);
  for (const double first : {0.0, 2.5, -180.0, 180.0, 177.5, 359.9, 1.25, 3.3}) {
    for (const double step : {5.0, -5.0}) {
      const std::vector<double> longitudes = steps(first, step, 72);
      const LatLonGrid found = find(latitudes, longitudes);
      EXPECT_TRUE(found.warnings.empty());
      expect_places(found, latitudes, longitudes);
    }
  }
  EXPECT_EQ(find(latitudes, steps(-180, 5, 72)).grid->name(), "fejer:36");
  EXPECT_EQ(find(latitudes, steps(2.5, 5, 72)).grid->name(), "fejer:36,72,2.5");
}

TEST(LatLonGrid, CoordinatesInSinglePrecisionAreNearEnough) {
  std::vector<double> latitudes = steps(90, -0.1, 1801);
  std::vector<double> longitudes = steps(0, 0.1, 3600);
  for (double& value : latitudes) value = static_cast<double>(static_cast<float>(value));
  for (double& value : longitudes) value = static_cast<double>(static_cast<float>(value));
  EXPECT_EQ(find(latitudes, longitudes).grid->name(), "clenshaw:1801,3600");
}

TEST(LatLonGrid, ALastMeridianThatRepeatsTheFirstIsLeftOut) {
  const std::vector<double> latitudes = steps(90, -10, 19);
  const LatLonGrid found = find(latitudes, steps(0, 10, 37));
  EXPECT_EQ(found.grid->name(), "clenshaw:19,36");
  EXPECT_EQ(found.order.n_columns, 37);
  ASSERT_EQ(found.warnings.size(), 1u);
}

TEST(LatLonGrid, SomeRingsOfAnEquidistantGridAreABand) {
  const LatLonGrid found = find(steps(-35, 10, 5), steps(0, 30, 12));
  EXPECT_EQ(found.grid->name(), "fejer:18,12");
  EXPECT_EQ(found.order.rings(), (RingRange{8, 13}));
}

TEST(LatLonGrid, OthersAreDataErrorsThatSayWhatIsExpected) {
  const std::vector<double> latitudes = steps(90, -10, 19);
  const std::vector<double> longitudes = steps(0, 30, 12);
  const auto refused = [&](const char* reason, const std::vector<double>& some_latitudes,
                           const std::vector<double>& some_longitudes) {
    test::expect_error(ErrorKind::data, reason, [&] { find(some_latitudes, some_longitudes); });
  };
  refused("does not go round the whole circle", latitudes, steps(0, 30, 11));
  refused("does not go round the whole circle", latitudes, steps(0, 31, 12));
  refused("equal steps", latitudes, {0, 90, 180, 275});
  refused("equal steps", latitudes, {0, 0, 0, 0});
  refused("no grid that is known", steps(80, -9, 18), longitudes);
  refused("no grid that is known", {90, 50, 20, 0, -20, -50, -90}, longitudes);
  refused("no grid that is known", {10, 10, 10}, longitudes);
  refused("outside -90 ... 90", steps(100, -10, 20), longitudes);
  refused("outside -90 ... 90", {90, std::nan(""), -90}, longitudes);
  refused("equal steps", latitudes, {0, std::nan(""), 240});
  refused("2 or more", {0}, longitudes);
  refused("2 or more", latitudes, {0});
}

}  // namespace
}  // namespace ringweave::detail
