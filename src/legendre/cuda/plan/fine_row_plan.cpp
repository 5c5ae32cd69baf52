// SPDX-License-Identifier: GPL-3.0-or-later
#include "legendre/cuda/plan/fine_row_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>

#include "base/checked_cast.hpp"
#include "legendre/deconvolved_rows.hpp"
#include "legendre/shared/resampled_modes.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::gpu {
namespace {

/// Enough to fill a device at the degrees of large transforms, and few for small ones.
constexpr std::int64_t most_columns = 256;

void refuse_folds(const LegendreShape& shape) {
  for (const ModeLayout::Row& row : shape.rows.rows()) {
    if (row.fold_into < 0) continue;
    throw UsageError(
        fmt::format("Legendre stage: order {} folds into another one, which fine rows on a device "
                    "cannot do; give them at least {} columns",
                    row.m, 2 * shape.limits.mmax()));
  }
}

/// Returns the layout of the modes of parts on equidistant rings, each from position 0 on.
ModeLayout equidistant_layout(const LegendreShape& shape, const ModeLimits& limits,
                              std::span<const RowRange> parts) {
  ModeLayout layout;
  std::int64_t size = 0;
  for (const RowRange& part : parts) {
    std::int64_t position = 0;
    for (std::int64_t row = part.begin; row < part.end; ++row) {
      const int m = shape.alm.order(row);
      const RingRange rings = limits.kept(m);
      layout.begin_row(m);
      if (!rings.empty()) layout.add_segment(rings, position);
      position += rings.size();
    }
    size = std::max(size, position);
  }
  layout.set_size(size);
  return layout;
}

/// The turn is by half a step of either circle.
std::vector<Double2> turns_of(const DeconvolvedRows& rows, std::int64_t n_equidistant) {
  const auto n = static_cast<long double>(n_equidistant);
  const auto n_rows = static_cast<long double>(rows.n_rows);
  const long double step = std::numbers::pi_v<long double> / 2 * (n - n_rows) / (n * n_rows);
  std::vector<Double2> turns;
  for (std::int64_t k = 0; k < ssize64(rows.theta_factors); ++k) {
    const long double scale = static_cast<long double>(rows.theta_factors[to_size(k)]) / (2 * n);
    const long double angle = static_cast<long double>(k) * step;
    turns.push_back({static_cast<double>(scale * std::cos(angle)),
                     static_cast<double>(scale * std::sin(angle))});
  }
  return turns;
}

LegendreShape shape_of_sums(const LegendreShape& shape, const std::shared_ptr<const RingGrid>& grid,
                            const ModeLimits& limits, std::span<const RowRange> parts) {
  return {grid,
          limits,
          {},
          shape.alm,
          equidistant_layout(shape, limits, parts),
          shape.fields,
          ThetaRoute::direct};
}

}  // namespace

FineRowPlan::FineRowPlan(const LegendreShape& shape, std::span<const RowRange> of,
                         std::int64_t most_bytes)
    : sums(shape), parts(of.begin(), of.end()), n_components(shape.fields.n_components()) {
  refuse_folds(shape);
  const auto grid = std::make_shared<const RingGrid>(equidistant_rings(shape.alm.lmax()));
  const ResampledModes modes(shape, *grid);
  const DeconvolvedRows& fine = *shape.fine_rows;
  sums = shape_of_sums(shape, grid, modes.limits, parts);
  degree = shape.alm.lmax();
  coarse_length = 2 * grid->n_rings();
  fine_length = 2 * fine.n_rows;
  // By all orders, not by those of this rank, so that FFTs round alike on any number of ranks.
  n_columns = std::clamp<std::int64_t>(
      most_bytes / column_bytes(), 1,
      std::min(most_columns, (shape.alm.mmax() + std::int64_t{1}) * n_components));
  turns = turns_of(fine, grid->n_rings());

  rings.assign(to_size(fine.n_rows), -1);
  const std::vector<std::int64_t> rows_of_rings = fine.rows_of(*shape.grid);
  for (std::int64_t ring = 0; ring < ssize64(rows_of_rings); ++ring) {
    rings[to_size(rows_of_rings[to_size(ring)])] =
        checked_cast<std::int32_t>(ring, "rings of fine rows");
  }
  for (std::int64_t i = 0; i < shape.alm.n_orders(); ++i) {
    const int m = shape.alm.order(i);
    const std::int64_t first_segment = ssize64(segments);
    for (const RowSegment& segment : shape.rows.segments(shape.rows.rows()[to_size(i)])) {
      if (!segment.rings.empty()) segments.push_back(segment);
    }
    const auto summed = sums.rows.segments(sums.rows.rows()[to_size(i)]);
    const std::int64_t first = summed.empty() ? 0 : summed.front().first;
    const RingRange equidistant = modes.limits.kept(m);
    for (std::int64_t c = 0; c < n_components; ++c) {
      const ResampledModes::OwnLimits* own = modes.own[to_size(c)].get();
      columns.push_back(
          {first * n_components + c, equidistant,
           own == nullptr ? equidistant : intersection(own->equidistant.kept(m), equidistant),
           own == nullptr ? shape.limits.kept(m) : own->targets.kept(m), first_segment,
           ssize64(segments) - first_segment, c, modes.is_odd(m, c) ? -1.0 : 1.0,
           fine.order_factors[to_size(std::int64_t{m})]});
    }
  }
}

std::int64_t FineRowPlan::column_bytes() const {
  const std::int64_t numbers = coarse_length + fine_length + std::max(coarse_length, fine_length);
  return numbers * std::int64_t{sizeof(Double2)};
}

}  // namespace ringweave::detail::gpu
