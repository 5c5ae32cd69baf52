// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/points/point_order.hpp"

#include <omp.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
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

/// Calls use(point, tile row) for the points from `begin` to `end`, one after the other.
template <class Use>
void for_each_tile_row(const FineRows& rows, const StridedAngles& angles, std::int64_t begin,
                       std::int64_t end, const Use& use) {
  constexpr std::int64_t block = 512;
  std::array<std::int32_t, block> row;
  for (std::int64_t first = begin; first < end; first += block) {
    const std::int64_t n = std::min(block, end - first);
    find_rows(angles.theta + first * angles.stride, angles.stride, n, rows.n_rows(), row.data());
    for (std::int64_t i = 0; i < n; ++i)
      use(first + i, static_cast<std::size_t>(row[to_size(i)]) / PointOrder::tile_rows);
  }
}

/// Copies points by rows of tiles into `order`, in no order within one, and lists the tiles.
/// number  [place] overwritten with the number of the point
template <class Index>
void copy_by_tile_rows(const FineRows& rows, const StridedAngles& angles, PointOrder& order,
                       Index* number) {
  const std::int64_t n = angles.size;
  const std::int64_t n_tiles = count_of(rows.n_rows(), PointOrder::tile_rows);
  const std::int64_t n_shares = omp_get_max_threads();
  // [share][tile row] points, then where the next of them goes.
  std::vector<std::vector<std::int64_t>> next(to_size(n_shares),
                                              std::vector<std::int64_t>(to_size(n_tiles), 0));
#pragma omp parallel for schedule(static)
  for (std::int64_t s = 0; s < n_shares; ++s) {
    std::int64_t* const count = next[to_size(s)].data();
    for_each_tile_row(rows, angles, n * s / n_shares, n * (s + 1) / n_shares,
                      [&](std::int64_t, std::size_t tile) { ++count[tile]; });
  }
  std::int64_t at = 0;
  for (std::int64_t row = 0; row < n_tiles; ++row) {
    const std::int64_t begin = at;
    for (std::vector<std::int64_t>& of_share : next)
      at += std::exchange(of_share[to_size(row)], at);
    if (at > begin) order.tiles.push_back({row * PointOrder::tile_rows, {begin, at}});
  }
  double* const theta = order.theta.data();
  double* const phi = order.phi.data();
#pragma omp parallel for schedule(static)
  for (std::int64_t s = 0; s < n_shares; ++s) {
    std::int64_t* const to = next[to_size(s)].data();
    for_each_tile_row(rows, angles, n * s / n_shares, n * (s + 1) / n_shares,
                      [&](std::int64_t point, std::size_t tile) {
                        const std::int64_t place = to[tile]++;
                        theta[place] = angles.theta[point * angles.stride];
                        phi[place] = angles.phi[point * angles.stride];
                        number[place] = static_cast<Index>(point);
                      });
  }
}

/// Sorts the points of one row of tiles after the other. One for each thread.
template <class Index>
class TileRowSort {
 public:
  std::vector<PointRange> repeated;

  TileRowSort(const FineRows& rows, const StridedAngles& angles)
      : rows_(rows),
        psi_(angles.psi),
        stride_(angles.stride),
        of_group_(to_size(count_of(rows.n_columns(), PointOrder::group_columns))) {}

  /// Sorts the points of a tile within `order`, where they are in no order.
  /// number  [place before] number of the point
  /// place   [number] overwritten with the place among all
  void run(const TileRow& tile, const Index* number, PointOrder& order, Index* place) {
    const std::int64_t n = tile.points.size();
    if (n > points_.size()) {
      points_.allocate(n);
      listed_.allocate(n);
      sorted_.allocate(n);
    }
    list(tile, number, order);
    sort_by(of_bin_, bin_of, {listed_.data(), to_size(n)}, sorted_.data());
    sort_by(of_group_, group_of, {sorted_.data(), to_size(n)}, listed_.data());
    std::int64_t at = tile.points.begin;
    for (std::int64_t begin = 0, end = 0; begin < n; begin = end) {
      while (end < n && key_of(listed_[end]) == key_of(listed_[begin])) ++end;
      if (end - begin > 1) {
        std::sort(listed_.data() + begin, listed_.data() + end, [&](Entry a, Entry b) {
          return is_before(points_[index_of(a)], points_[index_of(b)]);
        });
        find_repeated(begin, end, at);
      }
      for (std::int64_t i = begin; i < end; ++i, ++at) {
        // Points and places are anywhere in memory.
        if (i + 2 * ahead < n) {
          __builtin_prefetch(&points_[index_of(listed_[i + 2 * ahead])]);
          __builtin_prefetch(&place[points_[index_of(listed_[i + ahead])].number], 1);
        }
        const Point& point = points_[index_of(listed_[i])];
        order.theta[at] = point.theta;
        order.phi[at] = point.phi;
        if (psi_ != nullptr) order.psi[at] = psi(point);
        place[point.number] = static_cast<Index>(at);
      }
    }
  }

 private:
  struct Point {
    double theta;
    double phi;
    Index number;
  };
  static_assert(sizeof(Point) + 2 * sizeof(std::uint64_t) == bytes_of_point_in_work);
  /// Bits, from the highest: group of columns (16), bin of theta (16), index among the points (32).
  using Entry = std::uint64_t;
  static constexpr std::size_t n_bins = 2048;
  static constexpr std::int64_t ahead = 16;
  static std::size_t group_of(Entry entry) { return entry >> 48; }
  static std::size_t bin_of(Entry entry) { return (entry >> 32) & 0xffff; }
  static std::uint32_t key_of(Entry entry) { return static_cast<std::uint32_t>(entry >> 32); }
  static std::uint32_t index_of(Entry entry) { return static_cast<std::uint32_t>(entry); }

  double psi(const Point& point) const { return psi_[std::int64_t{point.number} * stride_]; }
  bool is_before(const Point& a, const Point& b) const {
    if (a.theta != b.theta || a.phi != b.phi || psi_ == nullptr)
      return std::tie(a.theta, a.phi) < std::tie(b.theta, b.phi);
    return psi(a) < psi(b);
  }
  /// Copies the points, makes an entry of each and counts groups and bins.
  void list(const TileRow& tile, const Index* number, const PointOrder& order) {
    const std::int64_t n = tile.points.size();
    checked_cast<std::uint32_t>(n, "points of 16 rows");
    checked_cast<std::uint16_t>(ssize64(of_group_), "groups of 8 columns");
    const double* const theta = order.theta.data() + tile.points.begin;
    const double* const phi = order.phi.data() + tile.points.begin;
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
      find_first_columns(phi + first, 1, last - first, rows_.n_columns(), rows_.n_column_taps,
                         column.data());
      for (std::int64_t i = first; i < last; ++i) {
        const double bin = (theta[i] - start) * bins_per_angle;
        const auto b = static_cast<std::size_t>(std::clamp(bin, 0.0, n_bins - 1.0));
        const std::size_t g = to_size(column[to_size(i - first)]) / PointOrder::group_columns;
        ++of_bin_[b];
        ++of_group_[g];
        points_[i] = {theta[i], phi[i], number[tile.points.begin + i]};
        listed_[i] = Entry{g} << 48 | Entry{b} << 32 | static_cast<Entry>(i);
      }
    }
  }
  /// Copies entries in the order of a key, equal keys in the order they have.
  template <class Counts, class KeyOf>
  static void sort_by(Counts& counts, KeyOf key, std::span<const Entry> from, Entry* to) {
    counts_to_begins(counts);
    for (const Entry entry : from) to[counts[key(entry)]++] = entry;
  }
  /// Lists the points at one place among sorted entries, the first of which goes to `at`.
  void find_repeated(std::int64_t begin, std::int64_t end, std::int64_t at) {
    for (std::int64_t first = begin, next = begin + 1; next <= end; ++next) {
      if (next < end &&
          !is_before(points_[index_of(listed_[first])], points_[index_of(listed_[next])]))
        continue;
      const std::int64_t place = at + first - begin;
      const std::int64_t count = next - first;
      if (count > 1) repeated.push_back({place, place + count});
      first = next;
    }
  }

  const FineRows& rows_;
  const double* psi_;
  std::int64_t stride_;
  std::array<std::uint32_t, n_bins> of_bin_{};
  std::vector<std::uint32_t> of_group_;
  HostBuffer<Point> points_;
  HostBuffer<Entry> listed_;
  HostBuffer<Entry> sorted_;
};

template <class Index>
void sort_tile_rows(const FineRows& rows, const StridedAngles& angles, const Index* number,
                    PointOrder& order, Index* place) {
  // The largest first, each by a thread of its own, so that the memory of a thread never grows and
  // does not depend on when threads begin.
  std::vector<TileRow> tiles = order.tiles;
  std::sort(tiles.begin(), tiles.end(),
            [](const TileRow& a, const TileRow& b) { return a.points.size() > b.points.size(); });
  FirstError error;
#pragma omp parallel
  {
    const std::int64_t n_threads = omp_get_num_threads();
    std::optional<TileRowSort<Index>> sort;
    error.guard([&] { sort.emplace(rows, angles); });
    const auto sort_tile = [&](std::int64_t t) {
      error.guard([&] { sort->run(tiles[to_size(t)], number, order, place); });
    };
    if (omp_get_thread_num() < ssize64(tiles)) sort_tile(omp_get_thread_num());
#pragma omp for schedule(dynamic)
    for (std::int64_t t = n_threads; t < ssize64(tiles); ++t) sort_tile(t);
#pragma omp critical(ringweave_repeated_points)
    error.guard([&] {
      order.repeated.insert(order.repeated.end(), sort->repeated.begin(), sort->repeated.end());
    });
  }
  error.rethrow();
  std::sort(order.repeated.begin(), order.repeated.end(),
            [](const PointRange& a, const PointRange& b) { return a.begin < b.begin; });
}

}  // namespace

PointOrder sort_points(const FineRows& rows, const StridedAngles& angles, CompactIndices& place) {
  PointOrder order;
  order.theta.allocate(angles.size);
  order.phi.allocate(angles.size);
  if (angles.psi != nullptr) order.psi.allocate(angles.size);
  place.allocate(angles.size, angles.size);
  place.visit([&](auto& places) {
    using Index = std::remove_reference_t<decltype(places[0])>;
    HostBuffer<Index> number(angles.size);
    copy_by_tile_rows(rows, angles, order, number.data());
    sort_tile_rows(rows, angles, number.data(), order, places.data());
  });
  return order;
}

}  // namespace ringweave::detail::inline distribute
