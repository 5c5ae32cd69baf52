// SPDX-License-Identifier: GPL-3.0-or-later
#include "nonuniform/lensing_memory.hpp"

#include <cmath>
#include <numbers>

#include "base/checked_cast.hpp"
#include "distribute/points/piece_exchange.hpp"
#include "nonuniform/cuda/point_sum_plan.hpp"
#include "nonuniform/inverse_deflection.hpp"
#include "nonuniform/row_tasks.hpp"
#include "sphere/fine_position.hpp"

namespace ringweave::detail::inline nonuniform {
namespace {

constexpr std::int64_t bytes_of_double = sizeof(double);

/// Calls use(first tap, pixels) for the first taps that the pixels of a ring may have.
template <class Use>
void for_each_first_tap(const FineRows& rows, double largest, const Ring& ring, const Use& use) {
  const std::int64_t first = rows.first_tap_of(std::max(ring.theta - largest, 0.0));
  const std::int64_t end = rows.first_tap_of(std::min(ring.theta + largest, fine::pi)) + 1;
  const std::int64_t n = end - first;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t pixels = ring.n_phi * (i + 1) / n - ring.n_phi * i / n;
    if (pixels > 0) use(first + i, pixels);
  }
}

/// Returns the pixels of each first tap.
std::vector<std::int64_t> pixels_of_taps(const FineRows& rows, double largest,
                                         const RingGrid& grid) {
  std::vector<std::int64_t> pixels(to_size(rows.n_first_taps()), 0);
  for (const Ring& ring : grid.rings()) {
    for_each_first_tap(rows, largest, ring,
                       [&](std::int64_t first, std::int64_t n) { pixels[to_size(first)] += n; });
  }
  return pixels;
}

/// Returns the modes and slots of a synthesis that has the memory of its map for the slots.
std::int64_t modes_of_synthesis(const TransformPlan& plan, std::int64_t map_bytes) {
  const std::int64_t slots = plan.pass_workspace_bytes(plan.n_passes_within);
  const bool fit = plan.n_passes_within == 1 && slots <= map_bytes;
  return plan.by_ring_bytes() + (fit ? 0 : slots);
}

/// Returns about the tables and the scratch of a transform (measured on HEALPix, lmax 255 to 2047).
std::int64_t tables_of(const TransformPlan& plan, int n_threads) {
  return plan.spec.grid->n_rings() * (600 * std::int64_t{n_threads} + 1600 / plan.n_ranks);
}

}  // namespace

DeflectionMemory memory_of_deflection(const TransformPlan& plan, int n_threads) {
  const std::int64_t vectors = 2 * bytes_of_double * plan.rings.n_pixels();
  return {.alm = 2 * bytes_of_mode * plan.alm.size(),
          .vectors = vectors,
          .modes = modes_of_synthesis(plan, vectors),
          .tables = tables_of(plan, n_threads)};
}

PixelPoints::PixelPoints(const FineRows& rows, double largest, const RingDistribution& bands)
    : PixelPoints(rows, largest, bands, pixels_of_taps(rows, largest, *bands.grid())) {}

PixelPoints::PixelPoints(const FineRows& rows, double largest, const RingDistribution& bands,
                         std::span<const std::int64_t> points)
    : plan_(rows, points, RowCosts::typical(rows), bands.n_ranks()),
      most_of_tile_(detail::most_of_tile(points)),
      counts_(to_size(bands.n_ranks())) {
  for (int rank = 0; rank < bands.n_ranks(); ++rank)
    counts_[to_size(rank)].summed = plan_.load(rank).points;
  for (const RingDistribution::OwnedBand& band : bands.bands()) {
    PointCounts& own = counts_[to_size(band.rank)];
    for (std::int64_t r = band.rings.begin; r < band.rings.end; ++r) {
      const auto count = [&](std::int64_t first, std::int64_t n) {
        const std::span<const int> ranks = plan_.ranks(first);
        own.listed += n;
        own.repeated += (ssize64(ranks) - 1) * n;
        for (const int rank : ranks) {
          if (rank == band.rank) continue;
          own.sent += n;
          counts_[to_size(rank)].arriving += n;
        }
      };
      for_each_first_tap(rows, largest, bands.grid()->ring(RingId{r}), count);
    }
  }
}

int PixelPoints::busiest_rank() const {
  const auto sums_less = [](const PointCounts& a, const PointCounts& b) {
    return a.summed < b.summed;
  };
  return static_cast<int>(std::max_element(counts_.begin(), counts_.end(), sums_less) -
                          counts_.begin());
}

PixelPoints pixels_of_lensing(const LensingProblem& problem, const RingDistribution& bands) {
  const TapChoice choice = choose_taps(problem.spec, bands.grid()->n_pixels());
  return {rows_of(choice, UntouchedRows::left_out), problem.largest, bands};
}

PointMemory memory_of_lensing(const LensingProblem& problem, const PixelPoints& pixels, int rank) {
  const PointPlan& plan = pixels.plan();
  const PointProblem points{.spec = problem.spec,
                            .n_points = plan.n_points(),
                            .n_angles = 2,
                            .n_ranks = plan.n_ranks(),
                            .n_threads = problem.n_threads};
  const FineGrid grid = grid_of(plan.rows());
  const double moved =
      std::ceil(problem.largest / std::numbers::pi * static_cast<double>(grid.n_rows));
  const std::int64_t most_rows = std::min(
      grid.n_rows, most_rows_near(grid) + 2 * static_cast<std::int64_t>(std::min(
                                                  moved, static_cast<double>(grid.n_rows))));
  PointSetMemory set{.points = PieceExchange::bytes_of(pixels.counts(rank), points.n_components()),
                     .lends_sums = false};
  if (problem.spec.backend == Backend::cuda) {
    // While they are copied to the device: theta, phi and the turns of frames, and a plan.
    constexpr std::int64_t bytes_of_copied =
        4 * bytes_of_double + gpu::PointSumPlan::bytes_of_point;
    const std::int64_t summed = pixels.counts(rank).summed;
    set.points += summed * bytes_of_copied;
    set.sums = summed * points.n_components() * bytes_of_double;
  }
  return predict_memory(points, plan.rows(), most_rows,
                        modes_of_ranks(problem.spec, plan)[to_size(rank)], set);
}

DelensingMemory memory_of_delensing(const PointMemory& lensing, const TransformPlan& analysis,
                                    int n_iter, int n_threads) {
  const std::int64_t n_components = analysis.spec.fields.n_components();
  return {.lensing = lensing,
          .alm = 2 * bytes_of_mode * n_components * analysis.alm.size(),
          .modes = analysis.by_ring_bytes() + analysis.pass_workspace_bytes(analysis.n_passes),
          .map = n_iter > 0 ? bytes_of_double * n_components * analysis.rings.n_pixels() : 0,
          .tables = tables_of(analysis, n_threads)};
}

PixelPoints pixels_of_inverse(const LensingProblem& problem, const RingDistribution& bands) {
  const TapChoice choice = choose_taps(problem.spec, points_of_inverse(bands.grid()->n_pixels()));
  return {rows_of(choice, UntouchedRows::kept), problem.largest, bands};
}

InverseMemory memory_of_inverse(const LensingProblem& problem, const PixelPoints& pixels,
                                int rank) {
  const PointSpec& spec = problem.spec;
  const PointPlan& plan = pixels.plan();
  const FineGrid grid = grid_of(plan.rows());
  const std::int64_t n_components = spec.fields.n_components();
  std::int64_t most = 0;
  for (int other = 0; other < plan.n_ranks(); ++other)
    most = std::max(most, pixels.counts(other).listed);
  const std::int64_t n_parts = parts_of_inverse(most);
  const auto part_of = [&](std::int64_t n) { return (n + n_parts - 1) / n_parts; };
  const PointCounts& all = pixels.counts(rank);
  const PointCounts searched{
      .listed = part_of(all.listed),
      .summed = part_of(all.summed),
      .sent = part_of(all.sent),
      .arriving = part_of(all.arriving),
      .repeated = part_of(all.repeated),
      .in_work = std::min(part_of(all.summed), problem.n_threads * part_of(pixels.most_of_tile())),
      .n_angles = all.n_angles};
  const std::int64_t alm =
      bytes_of_mode * AlmLayout::full_size(spec.lmax, spec.mmax) / plan.n_ranks();
  const std::int64_t modes = bytes_of_mode * modes_of_ranks(spec, plan)[to_size(rank)];
  return {
      .vectors = 2 * bytes_of_double * all.listed,
      .rows = n_components * bytes_of_double * plan.rings().n_rings(rank) * grid.n_columns,
      .tables = problem.n_threads * thread_bytes(spec, grid),
      .setting = n_components * (alm + modes),
      .search = bytes_of_search(searched.listed) + memory_of_set(searched, n_components).peak()};
}

}  // namespace ringweave::detail::inline nonuniform
