// SPDX-License-Identifier: GPL-3.0-or-later
#include "nonuniform/point_memory.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "base/checked_cast.hpp"
#include "distribute/exchange/mode_exchange.hpp"
#include "fft/device_ring_fft.hpp"
#include "legendre/device_legendre_stage.hpp"
#include "nonuniform/cuda/point_sum_plan.hpp"
#include "nonuniform/row_sweep.hpp"
#include "nonuniform/row_tasks.hpp"
#include "sphere/mode_limits.hpp"
#include "transform/transform_plan.hpp"

namespace ringweave::detail::inline nonuniform {
namespace {

/// Returns the points of each first tap if they are spread evenly over the sphere.
std::vector<std::int64_t> even_points(const FineRows& rows, std::int64_t n_points) {
  std::vector<std::int64_t> points(to_size(rows.n_first_taps()));
  const auto north_of = [&](std::int64_t first) {
    const double theta =
        std::numbers::pi * static_cast<double>(first) / static_cast<double>(rows.n_first_taps());
    return static_cast<std::int64_t>(
        std::llround(static_cast<double>(n_points) * (1 - std::cos(theta)) / 2));
  };
  for (std::int64_t first = 0; first < ssize64(points); ++first)
    points[to_size(first)] = north_of(first + 1) - north_of(first);
  return points;
}

/// Returns the bytes of slots besides the memory of the sums, of some passes if they do not fit
/// that, of one pass if there is no such memory and one pass is possible; and of packed modes.
/// modes       of one component on the rows of the rank
/// sent_bytes  of all components
std::int64_t slot_bytes(const ExchangeOptions& exchange, std::int64_t modes,
                        std::int64_t sent_bytes, const PointSetMemory& set) {
  const bool is_single = exchange.precision == ModePrecision::single_;
  const bool is_countable = modes <= exchange.mpi_count_limit;
  const bool is_one_pass = !set.lends_sums && is_countable && !is_single &&
                           exchange.schedule != ExchangeSchedule::overlapped;
  const int n_passes =
      is_one_pass ? 1 : passes_beside(exchange, TransformSpec().pass_bytes, sent_bytes);
  const std::int64_t slots = ModeExchange::n_slots_of(exchange) * sent_bytes / n_passes;
  // Buffers for sent and received modes; in single precision each has half the size.
  const std::int64_t packed = is_single ? slots : is_countable ? 0 : 2 * slots;
  return packed + (set.lends_sums && slots <= set.sums ? 0 : slots);
}

}  // namespace

std::int64_t thread_bytes(const PointSpec& spec, const FineGrid& grid) {
  // Columns of eight orders on the doubled circle and on the rows, and sweeps.
  const std::int64_t legendre = (spec.fields.max_spin() > 0 ? 640 : 400) * grid.n_rows;
  return legendre + run_bytes_of_thread(grid.n_columns, spec.mmax + std::int64_t{1});
}

DevicePointMemory device_memory_of_points(const TransformPlan& to_rows, std::int64_t n_summed,
                                          FrameRotation rotation) {
  constexpr std::int64_t real_bytes = sizeof(double);
  const FieldSet& fields = to_rows.spec.fields;
  const std::int64_t n = fields.n_components();
  const OrderPasses passes = to_rows.order_passes(to_rows.n_passes);
  const bool has_turns = rotation == FrameRotation::carried && fields.max_spin() > 0;
  const std::int64_t bytes_of_point =
      gpu::PointSumPlan::bytes_of_point + (has_turns ? 2 : 0) * real_bytes + n * real_bytes;
  DevicePointMemory memory;
  memory.legendre =
      legendre_block_bytes(to_rows.legendre_shape(fields, passes.by_order)).device_bytes;
  memory.rows =
      device_ring_fft_bytes(to_rows.ring_fft_shape(fields)) +
      n * (real_bytes * to_rows.rings.n_pixels() + bytes_of_mode * to_rows.exchange.by_ring.size());
  memory.points = n_summed * bytes_of_point;
  return memory;
}

FineGrid grid_of(const FineRows& rows) {
  return {rows.n_rows(), rows.n_columns(), rows.n_taps, rows.n_column_taps};
}

std::vector<std::int64_t> modes_of_ranks(const PointSpec& spec, const PointPlan& plan) {
  const RingDistribution& bands = plan.rings();
  const ModeLimits limits = ModeLimits::of_fine_rows(*bands.grid(), plan.rows().n_rows(), spec.lmax,
                                                     spec.mmax, spec.fields.max_spin());
  std::vector<std::int64_t> modes(to_size(bands.n_ranks()), 0);
  for (int rank = 0; rank < bands.n_ranks(); ++rank) {
    for (const RingRange& band : bands.bands(rank)) {
      for (std::int64_t ring = band.begin; ring < band.end; ++ring)
        modes[to_size(rank)] += limits.m_limit(RingId{ring}) + std::int64_t{1};
    }
  }
  return modes;
}

PointPlan even_plan(const PointProblem& problem, const FineRows& rows) {
  return {rows, even_points(rows, problem.n_points), RowCosts::typical(rows), problem.n_ranks};
}

std::int64_t most_of_tile(std::span<const std::int64_t> points) {
  std::int64_t most = 0;
  std::int64_t here = 0;
  for (std::int64_t first = 0; first < ssize64(points); ++first) {
    here += points[to_size(first)];
    if (first >= PointOrder::tile_rows) here -= points[to_size(first - PointOrder::tile_rows)];
    most = std::max(most, here);
  }
  return most;
}

PointSetMemory memory_of_set(const PointProblem& problem, const PointPlan& plan) {
  const auto by_others = [&](std::int64_t n) { return n - n / problem.n_ranks; };
  const std::int64_t references = plan.total().points / problem.n_ranks;
  PointCounts points;
  points.listed = problem.n_points / problem.n_ranks;
  points.summed = plan.most().points;
  points.sent = by_others(references);
  points.arriving = by_others(points.summed);
  points.repeated = std::max<std::int64_t>(references - points.listed, 0);
  points.in_work = std::min(
      points.summed, problem.n_threads * most_of_tile(even_points(plan.rows(), problem.n_points)));
  points.n_angles = problem.n_angles;
  return memory_of_set(points, problem.n_components());
}

PointSetMemory memory_of_set(const PointCounts& points, std::int64_t n_components) {
  return {.points = PointExchange::bytes_of(points, n_components),
          .sums = points.summed * n_components * std::int64_t{sizeof(double)},
          .sorting = PointExchange::bytes_while_sorting(points)};
}

PointMemory predict_memory(const PointProblem& problem) {
  return predict_memory(
      problem, rows_of(choose_taps(problem.spec, problem.n_points), UntouchedRows::left_out));
}

PointMemory predict_memory(const PointProblem& problem, const FineRows& rows) {
  const PointPlan plan = even_plan(problem, rows);
  const std::vector<std::int64_t> modes = modes_of_ranks(problem.spec, plan);
  return predict_memory(problem, rows, most_rows_near(grid_of(rows)),
                        *std::max_element(modes.begin(), modes.end()),
                        memory_of_set(problem, plan));
}

PointMemory predict_memory(const PointProblem& problem, const FineRows& rows,
                           std::int64_t most_rows, std::int64_t modes, const PointSetMemory& set) {
  const std::int64_t n_components = problem.n_components();
  const FineGrid grid = grid_of(rows);
  const std::int64_t of_modes = bytes_of_mode * n_components * modes;
  return {.set = set,
          .modes = of_modes + slot_bytes(problem.spec.exchange, modes,
                                         of_modes - of_modes / problem.n_ranks, set),
          .rows = RowSweep::bytes_of_threads(grid, n_components, problem.n_threads, most_rows),
          .tables = problem.n_threads * thread_bytes(problem.spec, grid)};
}

}  // namespace ringweave::detail::inline nonuniform
