// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/points/point_order.hpp"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "base/first_error.hpp"
#include "distribute/points/point_plan.hpp"
#include "sphere/fine_position.hpp"

namespace ringweave::detail::inline distribute {
namespace {

std::int64_t tiles_along(std::int64_t n, std::int64_t size) { return (n + size - 1) / size; }

/// Makes the counts of keys the place where the first point of each key goes.
void counts_to_begins(std::vector<std::int64_t>& counts) {
  std::int64_t next = 0;
  for (std::int64_t& count : counts) next += std::exchange(count, next);
}

/// The points by rows of tiles, in the order they have within one.
struct ByTileRow {
  HostBuffer<std::int64_t> points;
  std::vector<TileRow> tiles;

  ByTileRow(const FineRows& rows, const HostBuffer<double>& angles, std::int64_t n_angles)
      : points(angles.size() / n_angles) {
    const std::int64_t n_rows = rows.n_rows();
    HostBuffer<std::int32_t> tile(points.size());
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < points.size(); ++i) {
      const double theta = angles[i * n_angles];
      tile[i] =
          static_cast<std::int32_t>(row_position(theta, n_rows).index / PointOrder::tile_rows);
    }
    std::vector<std::int64_t> next(to_size(tiles_along(n_rows, PointOrder::tile_rows)), 0);
    for (const std::int32_t row : tile) ++next[to_size(row)];
    counts_to_begins(next);
    for (std::int64_t i = 0; i < points.size(); ++i) points[next[to_size(tile[i])]++] = i;
    // Each place has moved to the end of its points.
    std::int64_t begin = 0;
    for (std::int64_t row = 0; row < ssize64(next); ++row) {
      const std::int64_t end = next[to_size(row)];
      if (end > begin) tiles.push_back({row * PointOrder::tile_rows, {begin, end}});
      begin = end;
    }
  }
};

/// Sorts the points of one row of tiles after the other. One for each thread.
class TileRowSort {
 public:
  TileRowSort(const FineRows& rows, const HostBuffer<double>& angles, std::int64_t n_angles)
      : angles_(angles.data()),
        n_angles_(n_angles),
        n_columns_(rows.n_columns()),
        next_(to_size(tiles_along(n_columns_, PointOrder::tile_columns))) {}

  /// Writes the points to their places in `order` and `place`.
  void run(PointRange range, const HostBuffer<std::int64_t>& points, PointOrder& order,
           HostBuffer<std::int64_t>& place) {
    read(range, points);
    sort();
    std::int64_t at = range.begin;
    for (const Point& point : sorted_) {
      order.theta[at] = point.theta;
      order.phi[at] = point.phi;
      if (n_angles_ == 3) order.psi[at] = point.psi;
      place[point.number] = at++;
    }
  }

 private:
  struct Point {
    double theta;
    double phi;
    double psi;
    std::int64_t number;
    std::int64_t tile;  ///< column of tiles
  };

  void read(PointRange range, const HostBuffer<std::int64_t>& points) {
    read_.clear();
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      const double* const angle = angles_ + points[i] * n_angles_;
      const std::int64_t column = column_position(angle[1], n_columns_).index;
      read_.push_back({angle[0], angle[1], n_angles_ == 3 ? angle[2] : 0, points[i],
                       column / PointOrder::tile_columns});
    }
  }
  void sort() {
    std::fill(next_.begin(), next_.end(), 0);
    for (const Point& point : read_) ++next_[to_size(point.tile)];
    counts_to_begins(next_);
    sorted_.resize(read_.size());
    for (const Point& point : read_) sorted_[to_size(next_[to_size(point.tile)]++)] = point;
    auto begin = sorted_.begin();
    for (const std::int64_t end : next_) {
      const auto tile_end = sorted_.begin() + end;
      std::sort(begin, tile_end, [](const Point& a, const Point& b) {
        return std::tie(a.theta, a.phi, a.psi) < std::tie(b.theta, b.phi, b.psi);
      });
      begin = tile_end;
    }
  }

  const double* angles_;
  std::int64_t n_angles_;
  std::int64_t n_columns_;
  std::vector<std::int64_t> next_;  ///< [column of tiles]
  std::vector<Point> read_;
  std::vector<Point> sorted_;
};

std::vector<PointRange> find_repeated(const PointOrder& order) {
  const auto equal = [&](std::int64_t a, std::int64_t b) {
    return order.theta[a] == order.theta[b] && order.phi[a] == order.phi[b] &&
           (order.psi.size() == 0 || order.psi[a] == order.psi[b]);
  };
  std::vector<PointRange> result;
  std::int64_t begin = 0;
  for (std::int64_t end = 1; end <= order.size(); ++end) {
    if (end < order.size() && equal(begin, end)) continue;
    if (end - begin > 1) result.push_back({begin, end});
    begin = end;
  }
  return result;
}

}  // namespace

PointOrder sort_points(const FineRows& rows, const HostBuffer<double>& angles,
                       std::int64_t n_angles, HostBuffer<std::int64_t>& place) {
  ByTileRow by_row(rows, angles, n_angles);
  PointOrder order;
  order.theta.allocate(place.size());
  order.phi.allocate(place.size());
  if (n_angles == 3) order.psi.allocate(place.size());
  FirstError error;
#pragma omp parallel
  {
    std::optional<TileRowSort> sort;
    error.guard([&] { sort.emplace(rows, angles, n_angles); });
#pragma omp for schedule(dynamic)
    for (std::int64_t t = 0; t < ssize64(by_row.tiles); ++t) {
      error.guard([&] { sort->run(by_row.tiles[to_size(t)].points, by_row.points, order, place); });
    }
  }
  error.rethrow();
  order.tiles = std::move(by_row.tiles);
  order.repeated = find_repeated(order);
  return order;
}

}  // namespace ringweave::detail::inline distribute
