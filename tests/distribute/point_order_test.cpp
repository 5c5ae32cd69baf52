// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/points/point_order.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <numbers>
#include <numeric>
#include <random>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/memory_meter.hpp"
#include "distribute/points/point_places.hpp"
#include "point_cases.hpp"
#include "sphere/fine_position.hpp"

namespace ringweave::detail::test {
namespace {

/// Some points several times, some of them with another psi.
PointList points_with_repeats() {
  PointList points = random_points(3000, 0, std::numbers::pi, 8);
  for (std::size_t i = 0; i < 500; ++i) points.add(points.theta[i], points.phi[i]);
  for (int i = 0; i < 50; ++i) points.add(0.0, i % 2 == 0 ? 0.0 : -0.0);
  points.psi.assign(points.theta.size(), 0);
  for (std::size_t i = 0; i < points.psi.size(); i += 3) points.psi[i] = 1;
  return points;
}

HostBuffer<double> interleaved(const PointList& points, const std::vector<std::int64_t>& order,
                               std::int64_t n_angles) {
  HostBuffer<double> angles(points.size() * n_angles);
  double* next = angles.data();
  for (const std::int64_t i : order) {
    *next++ = points.theta[to_size(i)];
    *next++ = points.phi[to_size(i)];
    if (n_angles == 3) *next++ = points.psi[to_size(i)];
  }
  return angles;
}

StridedAngles strided(const HostBuffer<double>& angles, std::int64_t n_angles) {
  const double* const theta = angles.data();
  return {theta, theta + 1, n_angles == 3 ? theta + 2 : nullptr, n_angles,
          angles.size() / n_angles};
}

std::vector<std::int64_t> numbers(const CompactIndices& indices) {
  std::vector<std::int64_t> all;
  indices.visit([&](const auto& each) { all.assign(each.begin(), each.end()); });
  return all;
}

std::int64_t first_column(const FineRows& rows, double phi) {
  const std::int64_t n = rows.n_columns();
  return (first_tap(column_position(phi, n), rows.n_column_taps) + n) % n;
}

/// Sort key of points.
using Key = std::array<double, 5>;
Key key_of(const FineRows& rows, const PointOrder& order, std::int64_t i) {
  const auto tile_row = row_position(order.theta[i], rows.n_rows()).index / PointOrder::tile_rows;
  const std::int64_t group = first_column(rows, order.phi[i]) / PointOrder::group_columns;
  return {static_cast<double>(tile_row), static_cast<double>(group), order.theta[i], order.phi[i],
          order.psi.size() > 0 ? order.psi[i] : 0};
}

void expect_sorted(const FineRows& rows, const PointOrder& order) {
  std::int64_t n_repeated = 0;
  std::size_t repeated = 0;
  for (std::int64_t i = 1; i < order.size(); ++i) {
    const Key before = key_of(rows, order, i - 1);
    const Key now = key_of(rows, order, i);
    EXPECT_LE(before, now);
    if (before != now) continue;
    ++n_repeated;
    while (order.repeated.at(repeated).end <= i) ++repeated;
    EXPECT_LE(order.repeated[repeated].begin, i - 1);
  }
  std::int64_t listed = 0;
  for (const PointRange& range : order.repeated) listed += range.end - range.begin - 1;
  EXPECT_EQ(listed, n_repeated);
  std::int64_t next = 0;
  for (const TileRow& tile : order.tiles) {
    EXPECT_EQ(tile.points.begin, next);
    EXPECT_LT(tile.points.begin, tile.points.end);
    next = tile.points.end;
    for (std::int64_t i = tile.points.begin; i < tile.points.end; ++i) {
      const std::int64_t row = row_position(order.theta[i], rows.n_rows()).index;
      EXPECT_EQ(row / PointOrder::tile_rows * PointOrder::tile_rows, tile.first_row);
    }
  }
  EXPECT_EQ(next, order.size());
}

TEST(PointOrder, IsByTilesAndGroupsThenAngles) {
  const PointList points = points_with_repeats();
  std::vector<std::int64_t> input(to_size(points.size()));
  std::iota(input.begin(), input.end(), 0);
  std::mt19937 random(3);
  for (const auto& [n_rows, n_columns] : {std::pair{1, 1}, {40, 130}, {160, 512}}) {
    const FineRows rows = fine_rows(n_rows, n_columns, 4);
    for (const std::int64_t n_angles : {2, 3}) {
      std::vector<Key> first;
      for (int shuffle = 0; shuffle < 3; ++shuffle) {
        const HostBuffer<double> angles = interleaved(points, input, n_angles);
        CompactIndices places;
        const PointOrder order = sort_points(rows, strided(angles, n_angles), places);
        const std::vector<std::int64_t> place = numbers(places);
        ASSERT_EQ(order.size(), points.size());
        EXPECT_EQ(order.psi.size(), n_angles == 3 ? points.size() : 0);
        expect_sorted(rows, order);
        std::vector<int> seen(input.size(), 0);
        for (std::int64_t i = 0; i < points.size(); ++i) {
          const std::int64_t at = place[to_size(i)];
          ++seen[to_size(at)];
          EXPECT_EQ(order.theta[at], angles[i * n_angles]);
          EXPECT_EQ(order.phi[at], angles[i * n_angles + 1]);
        }
        EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](int n) { return n == 1; }));
        std::vector<Key> keys;
        for (std::int64_t i = 0; i < order.size(); ++i) keys.push_back(key_of(rows, order, i));
        if (shuffle == 0) first = keys;
        EXPECT_EQ(keys, first);
        std::shuffle(input.begin(), input.end(), random);
      }
    }
  }
}

TEST(PointOrder, IsByAnglesWhereManyPointsHaveOneTheta) {
  PointList points;
  for (const double phi : random_points(3000, 0, 1, 5).phi) points.add(1.25, phi);
  const FineRows rows = fine_rows(40, 64, 4);
  CompactIndices place;
  expect_sorted(
      rows, sort_points(rows, {points.theta.data(), points.phi.data(), nullptr, 1, points.size()},
                        place));
}

TEST(PointOrder, SortingTakesTheMemoryThatIsPredicted) {
  const PointList points = random_points(100'000, 0, std::numbers::pi, 3);
  const FineRows rows = fine_rows(160, 300, 8);
  for (const int n_threads : {1, 3}) {
    omp_set_num_threads(n_threads);
    const std::int64_t before = MemoryMeter::current_bytes();
    MemoryMeter::reset_high_water();
    CompactIndices place;
    const PointOrder order = sort_points(
        rows, {points.theta.data(), points.phi.data(), nullptr, 1, points.size()}, place);
    const std::int64_t most = MemoryMeter::high_water_bytes() - before;
    omp_set_num_threads(1);
    std::vector<std::int64_t> sizes;
    for (const TileRow& tile : order.tiles) sizes.push_back(tile.points.size());
    std::sort(sizes.begin(), sizes.end(), std::greater<>());
    const auto bytes_of = [&](int n_tiles) {
      return sorting_bytes(
          points.size(), 2,
          std::accumulate(sizes.begin(), sizes.begin() + n_tiles, std::int64_t{0}));
    };
    // A thread may have nothing to do.
    EXPECT_GE(most, bytes_of(1));
    EXPECT_LE(most, bytes_of(n_threads));
  }
}

TEST(PointPlaces, AreThoseOfSingleAngles) {
  PointList points = random_points(1001, 0, std::numbers::pi, 8);
  for (const double theta : {0.0, std::numbers::pi, std::numbers::pi / 2}) {
    for (const double phi : {0.0, -1e-300, 1e300, -3e7, 2 * std::numbers::pi})
      points.add(theta, phi);
  }
  std::vector<std::int32_t> found(to_size(points.size()));
  for (const auto& [n_rows, n_columns, n_taps] :
       {std::array{1, 2, 1}, {160, 512, 5}, {3456, 6912, 8}}) {
    const FineRows rows = fine_rows(n_rows, n_columns, n_taps);
    find_rows(points.theta.data(), 1, points.size(), n_rows, found.data());
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_EQ(found[i], row_position(points.theta[i], n_rows).index);
    find_first_columns(points.phi.data(), 1, points.size(), n_columns, n_taps, found.data());
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_EQ(found[i], first_column(rows, points.phi[i]));
    rows.number_first_taps(points.theta, found.data());
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_EQ(found[i], rows.first_tap_of(points.theta[i]));
  }
}

TEST(PointOrder, OfNoPointsIsEmpty) {
  CompactIndices place;
  const PointOrder order = sort_points(fine_rows(40, 130, 4), {}, place);
  EXPECT_EQ(order.size(), 0);
  EXPECT_TRUE(order.tiles.empty());
  EXPECT_TRUE(order.repeated.empty());
}

}  // namespace
}  // namespace ringweave::detail::test
