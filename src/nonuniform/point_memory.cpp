// SPDX-License-Identifier: GPL-3.0-or-later
#include "nonuniform/point_memory.hpp"

#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "base/checked_cast.hpp"
#include "fft/ring_fft.hpp"
#include "nonuniform/row_sweep.hpp"
#include "sphere/mode_limits.hpp"

namespace ringweave::detail::inline nonuniform {
namespace {

constexpr std::int64_t bytes_of_mode = sizeof(std::complex<double>);

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

/// Slots of an exchange in one pass lie in the memory of the sums; those of several passes are few.
std::int64_t slot_bytes(std::int64_t sent_bytes, std::int64_t sum_bytes) {
  if (sent_bytes <= sum_bytes) return 0;
  return std::min(
      {sent_bytes, TransformSpec().pass_bytes, std::max(sent_bytes / 4, std::int64_t{1} << 20)});
}

/// Returns about the bytes of a thread in the Legendre stage and the row FFT.
std::int64_t thread_bytes(const PointSpec& spec, const FineGrid& grid) {
  // Columns of eight orders on the doubled circle and on the rows, and sweeps.
  const std::int64_t legendre = (spec.fields.max_spin() > 0 ? 640 : 400) * grid.n_rows;
  return legendre + run_bytes_of_thread(grid.n_columns, spec.mmax + std::int64_t{1});
}

}  // namespace

std::int64_t most_modes(const PointSpec& spec, const FineTaps& taps,
                        const RingDistribution& bands) {
  const ModeLimits limits = ModeLimits::of_fine_rows(*bands.grid(), taps.grid.n_rows, spec.lmax,
                                                     spec.mmax, spec.fields.max_spin());
  std::int64_t most = 0;
  for (int rank = 0; rank < bands.n_ranks(); ++rank) {
    std::int64_t modes = 0;
    for (const RingRange& band : bands.bands(rank)) {
      for (std::int64_t ring = band.begin; ring < band.end; ++ring)
        modes += limits.m_limit(RingId{ring}) + std::int64_t{1};
    }
    most = std::max(most, modes);
  }
  return most;
}

PointPlan even_plan(const PointProblem& problem, const FineRows& rows) {
  return {rows, even_points(rows, problem.n_points), RowCosts::typical(rows), problem.n_ranks};
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
  points.n_angles = problem.n_angles;
  const std::int64_t n_components = problem.spec.fields.n_components();
  return {.points = PointExchange::bytes_of(points, n_components),
          .sums = points.summed * n_components * std::int64_t{sizeof(double)},
          .sorting = PointExchange::bytes_while_sorting(points)};
}

PointMemory predict_memory(const PointProblem& problem) {
  return predict_memory(problem, FineTaps(problem.spec, problem.n_points));
}

PointMemory predict_memory(const PointProblem& problem, const FineTaps& taps) {
  const PointSpec& spec = problem.spec;
  const std::int64_t n_components = spec.fields.n_components();
  const PointPlan plan = even_plan(problem, taps.rows(UntouchedRows::left_out));
  PointMemory memory;
  memory.set = memory_of_set(problem, plan);
  memory.modes = bytes_of_mode * n_components * most_modes(spec, taps, plan.rings());
  memory.modes += slot_bytes(memory.modes - memory.modes / problem.n_ranks, memory.set.sums);
  memory.rows = RowSweep::bytes_of_threads(taps.grid, n_components, problem.n_threads,
                                           most_rows_near(taps.grid));
  memory.tables = problem.n_threads * thread_bytes(spec, taps.grid);
  return memory;
}

}  // namespace ringweave::detail::inline nonuniform
