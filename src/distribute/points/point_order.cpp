// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/points/point_order.hpp"

#include <omp.h>

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>
#include <utility>

#include "base/first_error.hpp"
#include "distribute/points/point_places.hpp"
#include "distribute/points/point_plan.hpp"
#include "sphere/fine_position.hpp"

namespace ringweave::detail::inline distribute {
namespace {

std::int64_t count_of(std::int64_t n, std::int64_t size) { return (n + size - 1) / size; }

/// Makes the counts of keys the place where the first point of each key goes.
template <class Counts>
void counts_to_begins(Counts& counts) {
  typename Counts::value_type next = 0;
  for (auto& count : counts) next += std::exchange(count, next);
}

struct Point {
  double theta;
  double phi;
  std::int64_t number;
};

/// The points by rows of tiles, in no order within one.
struct ByTileRow {
  HostBuffer<Point> points;
  std::vector<TileRow> tiles;

  ByTileRow(const FineRows& rows, const HostBuffer<double>& angles, std::int64_t n_angles)
      : points(angles.size() / n_angles) {
    const std::int64_t n = points.size();
    const std::int64_t n_tiles = count_of(rows.n_rows(), PointOrder::tile_rows);
    const std::int64_t n_shares = omp_get_max_threads();
    HostBuffer<std::int32_t> tile(n);
    // [share][tile row] points, then where the next of them goes.
    std::vector<std::vector<std::int64_t>> next(to_size(n_shares),
                                                std::vector<std::int64_t>(to_size(n_tiles), 0));
#pragma omp parallel for schedule(static)
    for (std::int64_t s = 0; s < n_shares; ++s) {
      const std::int64_t begin = n * s / n_shares;
      const std::int64_t end = n * (s + 1) / n_shares;
      find_rows(angles.data() + begin * n_angles, n_angles, end - begin, rows.n_rows(),
                tile.data() + begin);
      std::int64_t* const count = next[to_size(s)].data();
      for (std::int64_t i = begin; i < end; ++i) ++count[tile[i] /= PointOrder::tile_rows];
    }
    std::int64_t at = 0;
    for (std::int64_t row = 0; row < n_tiles; ++row) {
      const std::int64_t begin = at;
      for (std::vector<std::int64_t>& of_share : next)
        at += std::exchange(of_share[to_size(row)], at);
      if (at > begin) tiles.push_back({row * PointOrder::tile_rows, {begin, at}});
    }
#pragma omp parallel for schedule(static)
    for (std::int64_t s = 0; s < n_shares; ++s) {
      std::int64_t* const to = next[to_size(s)].data();
      for (std::int64_t i = n * s / n_shares; i < n * (s + 1) / n_shares; ++i) {
        const double* const angle = angles.data() + i * n_angles;
        points[to[tile[i]]++] = {angle[0], angle[1], i};
      }
    }
  }
};

/// Sorts the points of one row of tiles after the other. One for each thread.
class TileRowSort {
 public:
  std::vector<PointRange> repeated;

  /// psi  [number of a point * stride]; null where points have none
  TileRowSort(const FineRows& rows, const double* psi, std::int64_t stride)
      : rows_(rows),
        psi_(psi),
        stride_(stride),
        of_group_(to_size(count_of(rows.n_columns(), PointOrder::group_columns))) {}

  /// Writes the points to their places in `order` and `place`.
  void run(const TileRow& tile, const HostBuffer<Point>& all, PointOrder& order,
           HostBuffer<std::int64_t>& place) {
    const Point* const points = all.data() + tile.points.begin;
    list(tile, points);
    sort_by(of_bin_, bin_of, listed_, sorted_);
    sort_by(of_group_, group_of, sorted_, listed_);
    std::int64_t at = tile.points.begin;
    for (std::size_t begin = 0, end = 0; begin < listed_.size(); begin = end) {
      while (end < listed_.size() && key_of(listed_[end]) == key_of(listed_[begin])) ++end;
      if (end - begin > 1) {
        std::sort(listed_.data() + begin, listed_.data() + end, [&](Entry a, Entry b) {
          return is_before(points[index_of(a)], points[index_of(b)]);
        });
        find_repeated(points, begin, end, at);
      }
      for (std::size_t i = begin; i < end; ++i, ++at) {
        // Points and places are anywhere in memory.
        if (i + 2 * ahead < listed_.size()) {
          __builtin_prefetch(&points[index_of(listed_[i + 2 * ahead])]);
          __builtin_prefetch(&place[points[index_of(listed_[i + ahead])].number], 1);
        }
        const Point& point = points[index_of(listed_[i])];
        order.theta[at] = point.theta;
        order.phi[at] = point.phi;
        if (psi_ != nullptr) order.psi[at] = psi(point);
        place[point.number] = at;
      }
    }
  }

 private:
  /// From the highest bits: group of columns (16), bin of theta (16), index among the points (32).
  using Entry = std::uint64_t;
  static constexpr std::size_t n_bins = 2048;
  static constexpr std::size_t ahead = 16;
  static std::size_t group_of(Entry entry) { return entry >> 48; }
  static std::size_t bin_of(Entry entry) { return (entry >> 32) & 0xffff; }
  static std::uint32_t key_of(Entry entry) { return static_cast<std::uint32_t>(entry >> 32); }
  static std::uint32_t index_of(Entry entry) { return static_cast<std::uint32_t>(entry); }

  double psi(const Point& point) const { return psi_[point.number * stride_]; }
  bool is_before(const Point& a, const Point& b) const {
    if (a.theta != b.theta || a.phi != b.phi || psi_ == nullptr)
      return std::tie(a.theta, a.phi) < std::tie(b.theta, b.phi);
    return psi(a) < psi(b);
  }
  /// Makes an entry of each point and counts groups and bins.
  void list(const TileRow& tile, const Point* points) {
    const std::int64_t n = tile.points.end - tile.points.begin;
    checked_cast<std::uint32_t>(n, "points of 16 rows");
    checked_cast<std::uint16_t>(ssize64(of_group_), "groups of 8 columns");
    listed_.resize(to_size(n));
    sorted_.resize(to_size(n));
    of_bin_.fill(0);
    std::fill(of_group_.begin(), of_group_.end(), 0);
    // Bins grow with theta to the last bit, so that they and theta have one order.
    const double row_height = fine::pi / static_cast<double>(rows_.n_rows());
    const double start = static_cast<double>(tile.first_row) * row_height;
    const double bins_per_angle =
        static_cast<double>(n_bins) / (static_cast<double>(PointOrder::tile_rows) * row_height);
    constexpr std::int64_t block = 512;
    std::array<std::int32_t, block> column;
    for (std::int64_t first = 0; first < n; first += block) {
      const std::int64_t last = std::min(first + block, n);
      find_first_columns(&points[first].phi, sizeof(Point) / sizeof(double), last - first,
                         rows_.n_columns(), rows_.n_column_taps, column.data());
      for (std::int64_t i = first; i < last; ++i) {
        const double bin = (points[i].theta - start) * bins_per_angle;
        const auto b = static_cast<std::size_t>(std::clamp(bin, 0.0, n_bins - 1.0));
        const std::size_t g = to_size(column[to_size(i - first)]) / PointOrder::group_columns;
        ++of_bin_[b];
        ++of_group_[g];
        listed_[to_size(i)] = Entry{g} << 48 | Entry{b} << 32 | static_cast<Entry>(i);
      }
    }
  }
  /// Copies entries in the order of a key, equal keys in the order they have.
  template <class Counts, class KeyOf>
  static void sort_by(Counts& counts, KeyOf key, const std::vector<Entry>& from,
                      std::vector<Entry>& to) {
    counts_to_begins(counts);
    for (const Entry entry : from) to[counts[key(entry)]++] = entry;
  }
  /// Lists the points at one place among sorted entries, the first of which goes to `at`.
  void find_repeated(const Point* points, std::size_t begin, std::size_t end, std::int64_t at) {
    for (std::size_t first = begin, next = begin + 1; next <= end; ++next) {
      if (next < end &&
          !is_before(points[index_of(listed_[first])], points[index_of(listed_[next])]))
        continue;
      const std::int64_t place = at + static_cast<std::int64_t>(first - begin);
      const auto count = static_cast<std::int64_t>(next - first);
      if (count > 1) repeated.push_back({place, place + count});
      first = next;
    }
  }

  const FineRows& rows_;
  const double* psi_;
  std::int64_t stride_;
  std::array<std::uint32_t, n_bins> of_bin_{};
  std::vector<std::uint32_t> of_group_;
  std::vector<Entry> listed_;
  std::vector<Entry> sorted_;
};

}  // namespace

PointOrder sort_points(const FineRows& rows, HostBuffer<double> angles, std::int64_t n_angles,
                       HostBuffer<std::int64_t>& place) {
  ByTileRow by_row(rows, angles, n_angles);
  if (n_angles == 2) angles.release();
  const bool has_psi = n_angles == 3 && angles.size() > 0;
  const double* const psi = has_psi ? angles.data() + 2 : nullptr;
  PointOrder order;
  order.theta.allocate(place.size());
  order.phi.allocate(place.size());
  if (n_angles == 3) order.psi.allocate(place.size());
  FirstError error;
#pragma omp parallel
  {
    std::optional<TileRowSort> sort;
    error.guard([&] { sort.emplace(rows, psi, n_angles); });
#pragma omp for schedule(dynamic)
    for (std::int64_t t = 0; t < ssize64(by_row.tiles); ++t)
      error.guard([&] { sort->run(by_row.tiles[to_size(t)], by_row.points, order, place); });
#pragma omp critical(ringweave_repeated_points)
    error.guard([&] {
      order.repeated.insert(order.repeated.end(), sort->repeated.begin(), sort->repeated.end());
    });
  }
  error.rethrow();
  std::sort(order.repeated.begin(), order.repeated.end(),
            [](const PointRange& a, const PointRange& b) { return a.begin < b.begin; });
  order.tiles = std::move(by_row.tiles);
  return order;
}

}  // namespace ringweave::detail::inline distribute
