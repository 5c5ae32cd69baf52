// SPDX-License-Identifier: GPL-3.0-or-later
#include "legendre/shared/fold_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/checked_cast.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline legendre {
namespace {

void check_segments(const LegendreShape& shape, const ModeLayout::Row& row) {
  const RingRange kept = shape.limits.kept(row.m);
  for (const RowSegment& segment : shape.rows.segments(row)) {
    if (segment.rings.begin < kept.begin || segment.rings.end > kept.end || segment.first < 0 ||
        segment.first + segment.rings.size() > shape.rows.size()) {
      throw UsageError(fmt::format(
          "Legendre stage: the row of order {} has a segment of rings [{}, {}) at position {}; the "
          "order keeps rings "
          "[{}, {}) and the layout has {} positions; make rows, limits and grid from one plan",
          row.m, segment.rings.begin, segment.rings.end, segment.first, kept.begin, kept.end,
          shape.rows.size()));
    }
  }
}

void check_fold(const LegendreShape& shape, const ModeLayout::Row& row) {
  if (row.fold_into < 0) return;
  const std::int64_t n_rows = ssize64(shape.rows.rows());
  bool fits = shape.fold.active() && row.fold_into < n_rows &&
              intersection(row.fold_rings, shape.fold.rings) == row.fold_rings &&
              intersection(row.fold_rings, shape.limits.kept(row.m)) == row.fold_rings;
  if (fits) {
    const ModeLayout::Row& target = shape.rows.rows()[to_size(row.fold_into)];
    std::int64_t covered = 0;
    for (const RowSegment& segment : shape.rows.segments(target)) {
      covered += intersection(segment.rings, row.fold_rings).size();
    }
    fits = target.fold_into < 0 && target.m == shape.fold.alias(row.m).m0 &&
           covered == row.fold_rings.size();
  }
  if (!fits) {
    throw UsageError(
        fmt::format("Legendre stage: order {} cannot fold its rings [{}, {}) into row {}: that row "
                    "must hold the order's alias on "
                    "all of them; make rows and fold rule from one plan",
                    row.m, row.fold_rings.begin, row.fold_rings.end, row.fold_into));
  }
}

void check_rows(const LegendreShape& shape) {
  const auto rows = shape.rows.rows();
  if (shape.limits.lmax() != shape.alm.lmax() || shape.limits.n_rings() != shape.grid->n_rings()) {
    throw UsageError(fmt::format(
        "Legendre stage: limits for lmax {} and {} rings, coefficients to lmax {} and {} rings; "
        "they must agree",
        shape.limits.lmax(), shape.limits.n_rings(), shape.alm.lmax(), shape.grid->n_rings()));
  }
  if (ssize64(rows) != shape.alm.n_orders()) {
    throw UsageError(
        fmt::format("Legendre stage: {} mode rows for {} orders; give one row per order",
                    rows.size(), shape.alm.n_orders()));
  }
  for (std::int64_t i = 0; i < ssize64(rows); ++i) {
    const ModeLayout::Row& row = rows[to_size(i)];
    if (row.m != shape.alm.order(i)) {
      throw UsageError(
          fmt::format("Legendre stage: mode row {} is order {}, coefficient row {} is order {}", i,
                      row.m, i, shape.alm.order(i)));
    }
    check_segments(shape, row);
    check_fold(shape, row);
  }
}

}  // namespace

FoldGroups::FoldGroups(const LegendreShape& shape) {
  check_rows(shape);
  const auto rows = shape.rows.rows();
  const std::int64_t n_rows = ssize64(rows);
  std::vector<double> work(rows.size(), 0.0);
  std::vector<std::int64_t> head(rows.size());
  for (std::int64_t i = 0; i < n_rows; ++i) {
    const ModeLayout::Row& row = rows[to_size(i)];
    head[to_size(i)] = row.fold_into < 0 ? i : row.fold_into;
    work[to_size(head[to_size(i)])] += static_cast<double>(shape.limits.kept(row.m).size()) *
                                       static_cast<double>(shape.alm.lmax() - row.m + 1);
  }
  rows_.resize(rows.size());
  std::iota(rows_.begin(), rows_.end(), std::int64_t{0});
  std::sort(rows_.begin(), rows_.end(), [&](std::int64_t a, std::int64_t b) {
    const std::int64_t head_a = head[to_size(a)];
    const std::int64_t head_b = head[to_size(b)];
    if (head_a == head_b) return a < b;
    const double work_a = work[to_size(head_a)];
    const double work_b = work[to_size(head_b)];
    return work_a != work_b ? work_a > work_b : head_a < head_b;
  });
  for (std::int64_t i = 0; i < n_rows; ++i) {
    if (i == 0 || head[to_size(rows_[to_size(i)])] != head[to_size(rows_[to_size(i - 1)])])
      begin_.push_back(i);
  }
  begin_.push_back(n_rows);
}

}  // namespace ringweave::detail::inline legendre
