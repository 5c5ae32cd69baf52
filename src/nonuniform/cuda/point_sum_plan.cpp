// SPDX-License-Identifier: GPL-3.0-or-later
#include "nonuniform/cuda/point_sum_plan.hpp"

#include <algorithm>

#include "base/checked_cast.hpp"
#include "ringweave/grid.hpp"

namespace ringweave::detail::gpu {
namespace {

constexpr std::int64_t tile_rows = SpreadTile::n_rows;

/// Returns the rows of the taps that stand for the rows of a tile.
RingRange image_of(const SpreadTile& tile, const TileVisit& visit) {
  const std::int64_t north = visit.origin + visit.step * tile.first_row;
  const std::int64_t south = north + visit.step * (tile_rows - 1);
  return {std::min(north, south), std::max(north, south) + 1};
}

}  // namespace

PointSumPlan::PointSumPlan(const FineGrid& of, std::span<const std::int64_t> first_values,
                           PointSpan points)
    : grid(of),
      first_value(first_values.begin(), first_values.end()),
      places(to_size(points.size)) {
  checked_cast<std::uint32_t>(points.size, "points of a device");
  checked_cast<std::int32_t>(grid.n_rows + grid.theta_width, "fine rows of a device");
  checked_cast<std::int32_t>(grid.n_columns, "fine columns of a device");
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < points.size; ++i) {
    const TapPlace rows = rows_around(grid, points.theta[i]);
    const TapPlace columns = columns_around(grid, points.phi[i]);
    places[to_size(i)] = {rows.offset, columns.offset, static_cast<std::int32_t>(rows.first),
                          static_cast<std::int32_t>(columns.first)};
  }
  list_tiles();
  list_points();
}

void PointSumPlan::list_tiles() {
  for (std::int64_t first = 0; first < grid.n_rows; first += tile_rows) {
    const auto begin = first_value.begin() + first;
    const auto end = first_value.begin() + std::min(first + tile_rows, grid.n_rows);
    if (std::any_of(begin, end, [](std::int64_t value) { return value >= 0; }))
      tiles.push_back({first, 0, 0});
  }
}

std::vector<PointSumPlan::Run> PointSumPlan::runs() const {
  constexpr std::int64_t least_points = 64;
  // So many that most have the rows of a few tiles only, where points are sorted by tiles.
  const std::int64_t most_runs = 4 * (grid.n_rows / tile_rows + 1);
  const std::int64_t n_points = ssize64(places);
  const std::int64_t size = std::max(least_points, (n_points + most_runs - 1) / most_runs);
  std::vector<Run> runs(to_size((n_points + size - 1) / size));
#pragma omp parallel for schedule(static)
  for (std::int64_t r = 0; r < ssize64(runs); ++r) {
    const std::int64_t begin = r * size;
    const std::int64_t end = std::min(begin + size, n_points);
    const auto [least, greatest] =
        std::minmax_element(places.begin() + begin, places.begin() + end,
                            [](const PointPlace& a, const PointPlace& b) { return a.row < b.row; });
    runs[to_size(r)] = {begin, end, {least->row, greatest->row + grid.theta_width}};
  }
  return runs;
}

/// Calls use(point) for the points with taps in a range of rows, in their order.
template <class Use>
void PointSumPlan::for_each_touching(std::span<const Run> runs, RingRange rows,
                                     const Use& use) const {
  for (const Run& run : runs) {
    if (intersection(run.rows, rows).empty()) continue;
    for (std::int64_t i = run.begin; i < run.end; ++i) {
      const std::int64_t row = places[to_size(i)].row;
      if (row < rows.end && row + grid.theta_width > rows.begin) use(i);
    }
  }
}

void PointSumPlan::list_points() {
  constexpr std::int64_t n_images = 3;
  const TileVisit images[] = {{0, 1, 0}, {-1, -1, 0}, {2 * grid.n_rows - 1, -1, 0}};
  const std::int64_t n_tiles = ssize64(tiles);
  const std::vector<Run> all = runs();
  std::vector<std::int64_t> counts(to_size(n_images * n_tiles), 0);
#pragma omp parallel for schedule(dynamic)
  for (std::int64_t i = 0; i < n_images * n_tiles; ++i) {
    const RingRange rows = image_of(tiles[to_size(i / n_images)], images[i % n_images]);
    for_each_touching(all, rows, [&](std::int64_t) { ++counts[to_size(i)]; });
  }
  std::vector<std::int64_t> of_visit;  // the first tile and image
  std::int64_t n_visited = 0;
  for (std::int64_t i = 0; i < n_images * n_tiles; ++i) {
    SpreadTile& tile = tiles[to_size(i / n_images)];
    if (i % n_images == 0) tile.first_visit = ssize64(visits);
    const std::int64_t count = counts[to_size(i)];
    if (count == 0) continue;
    ++tile.n_visits;
    TileVisit& visit = visits.emplace_back(images[i % n_images]);
    visit.first_begin = (ssize64(visits) - 1) * (n_groups() + 1);
    of_visit.push_back(i);
    counts[to_size(i)] = n_visited;
    n_visited += count;
  }
  group_begins.assign(to_size(ssize64(visits) * (n_groups() + 1)), 0);
  visited.resize(to_size(n_visited));
#pragma omp parallel for schedule(dynamic)
  for (std::int64_t v = 0; v < ssize64(visits); ++v) {
    const std::int64_t i = of_visit[to_size(v)];
    const RingRange rows = image_of(tiles[to_size(i / n_images)], visits[to_size(v)]);
    // First those before a group, then where its next point goes: in the end where it ends.
    std::int64_t* const begins = group_begins.data() + visits[to_size(v)].first_begin;
    const auto group_of = [&](std::int64_t point) {
      return places[to_size(point)].column / group_columns;
    };
    for_each_touching(all, rows, [&](std::int64_t point) { ++begins[group_of(point)]; });
    std::int64_t next = counts[to_size(i)];
    for (std::int64_t g = 0; g <= n_groups(); ++g) {
      const std::int64_t count = begins[g];
      begins[g] = next;
      next += count;
    }
    for_each_touching(all, rows, [&](std::int64_t point) {
      visited[to_size(begins[group_of(point)]++)] = static_cast<std::uint32_t>(point);
    });
    std::copy_backward(begins, begins + n_groups(), begins + n_groups() + 1);
    begins[0] = counts[to_size(i)];
  }
}

}  // namespace ringweave::detail::gpu
