// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/points/point_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/checked_cast.hpp"
#include "distribute/points/point_places.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline distribute {
namespace {

/// Returns how many taps of points are on each row; also adds up the points.
std::vector<std::int64_t> taps_on_rows(const FineRows& rows, std::span<const std::int64_t> points,
                                       std::int64_t& n_points) {
  constexpr std::int64_t most = std::int64_t{1} << 56;
  std::vector<std::int64_t> taps(to_size(rows.n_rows()), 0);
  for (std::int64_t first = 0; first < rows.n_first_taps(); ++first) {
    const std::int64_t count = points[to_size(first)];
    if (count < 0 || count > most - n_points) {
      throw UsageError(
          fmt::format("{} points have one first tap; expected 0 to 2^56 in all", count));
    }
    n_points += count;
    for (int i = 0; i < rows.n_taps; ++i) taps[to_size(rows.row(first, i))] += count;
  }
  return taps;
}

}  // namespace

void FineRows::number_first_taps(std::span<const double> theta, std::int32_t* numbers) const {
  find_first_taps(theta.data(), ssize64(theta), n_rows(), n_taps, numbers);
  const auto first = static_cast<std::int32_t>(taps_beyond_pole());
  for (std::int64_t i = 0; i < ssize64(theta); ++i) numbers[i] += first;
}

RingRange FineRows::rows_between(std::int64_t first, std::int64_t last) const {
  const std::int64_t begin = first - taps_beyond_pole();
  const std::int64_t end = last - taps_beyond_pole() + n_taps;
  // Those beyond a pole are rows from there on.
  return {std::max<std::int64_t>(std::min(begin, 2 * n_rows() - end), 0),
          std::min(std::max(end, -begin), n_rows())};
}

void require_rows(const FineRows& rows) {
  if (rows.grid == nullptr || rows.grid->kind() != GridKind::fejer || rows.grid->is_subset() ||
      rows.n_taps < 1 || rows.n_taps > 32 || rows.n_column_taps < 0 ||
      rows.n_column_taps > rows.n_columns()) {
    throw UsageError(fmt::format(
        "points on {} rows and {} columns each of grid {}; expected 1 to 32 rows of a "
        "whole grid fejer:N,NPHI and up to NPHI columns",
        rows.n_taps, rows.n_column_taps, rows.grid == nullptr ? "none" : rows.grid->name()));
  }
}

PointPlan::PointPlan(FineRows rows, std::span<const std::int64_t> points, const RowCosts& costs,
                     int n_ranks)
    : rows_(std::move(rows)) {
  require_rows(rows_);
  require_planned("plan of points", ssize64(points), rows_.n_first_taps(), "counts of points");
  const std::vector<std::int64_t> taps = taps_on_rows(rows_, points, n_points_);
  place_rows(taps, costs, n_ranks);
  list_ranks(points);
}

void PointPlan::place_rows(std::span<const std::int64_t> taps, const RowCosts& costs, int n_ranks) {
  std::vector<RingId> touched;
  std::vector<std::int64_t> cost_of_ring;
  ring_.assign(taps.size(), -1);
  const bool are_kept = rows_.untouched == UntouchedRows::kept;
  for (std::int64_t row = 0; row < ssize64(taps); ++row) {
    const bool is_alone = n_points_ == 0 && row == 0 && !are_kept;
    if (taps[to_size(row)] == 0 && !are_kept && !is_alone) continue;
    if (!is_alone) ring_[to_size(row)] = ssize64(touched);
    touched.push_back(RingId{row});
    cost_of_ring.push_back(
        checked_product(taps[to_size(row)], costs.of_point, "cost of a row's points") +
        costs.of_row);
  }
  rings_.emplace(std::make_shared<const RingGrid>(rows_.grid->subset(touched)), cost_of_ring,
                 n_ranks);
  loads_.assign(to_size(n_ranks), {});
  for (std::int64_t row = 0; row < ssize64(taps); ++row) {
    if (!exists(row)) continue;
    PointLoad& load = loads_[to_size(owner(row))];
    ++load.rows;
    load.taps += taps[to_size(row)];
  }
}

void PointPlan::list_ranks(std::span<const std::int64_t> points) {
  ranks_begin_.assign(points.size() + 1, 0);
  for (std::int64_t first = 0; first < ssize64(points); ++first) {
    const std::size_t begin = ranks_.size();
    for (int i = 0; points[to_size(first)] > 0 && i < rows_.n_taps; ++i) {
      const int rank = owner(rows_.row(first, i));
      // A band and its mirror, or rows beyond a pole, bring a rank twice.
      if (std::find(ranks_.begin() + static_cast<std::ptrdiff_t>(begin), ranks_.end(), rank) ==
          ranks_.end()) {
        ranks_.push_back(rank);
        loads_[to_size(rank)].points += points[to_size(first)];
      }
    }
    ranks_begin_[to_size(first + 1)] = ranks_.size();
  }
}

PointLoad PointPlan::most() const {
  PointLoad most;
  for (const PointLoad& load : loads_) {
    most.points = std::max(most.points, load.points);
    most.rows = std::max(most.rows, load.rows);
    most.taps = std::max(most.taps, load.taps);
  }
  return most;
}

PointLoad PointPlan::total() const {
  PointLoad total;
  for (const PointLoad& load : loads_) {
    total.points += load.points;
    total.rows += load.rows;
    total.taps += load.taps;
  }
  return total;
}

std::int64_t PointPlan::bytes() const { return held_bytes(ring_, ranks_begin_, ranks_, loads_); }

}  // namespace ringweave::detail::inline distribute
