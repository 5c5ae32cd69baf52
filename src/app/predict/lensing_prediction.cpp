// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/predict/lensing_prediction.hpp"

#include <algorithm>
#include <utility>

#include "nonuniform/fine_taps.hpp"
#include "transform/transform_estimate.hpp"
#include "transform/transform_plan.hpp"

namespace ringweave::detail::inline app {
namespace {

// Cost of a pixel without its sums over taps, in operations on vectors like theirs (measured at
// lmax 1023). A device gets positions once.
constexpr double operations_of_position = 5;
constexpr double operations_of_rotation = 5;

TransformSpec transform_of_deflection(const PointSpec& spec, std::shared_ptr<const RingGrid> grid) {
  TransformSpec deflection;
  deflection.grid = std::move(grid);
  deflection.lmax = spec.lmax;
  deflection.mmax = spec.mmax;
  deflection.fields = FieldSet({1});
  deflection.exchange = spec.exchange;
  return deflection;
}

}  // namespace

double FieldAtPixels::sent_bytes() const {
  std::int64_t most = 0;
  for (int rank = 0; rank < pixels.plan().n_ranks(); ++rank)
    most = std::max(most, pixels.counts(rank).arriving);
  return static_cast<double>(most * spec.fields.n_components() * std::int64_t{sizeof(double)});
}

FieldAtPixels field_at_pixels(const PointSpec& spec, std::int64_t n_points, UntouchedRows untouched,
                              const RingDistribution& bands) {
  const TapChoice choice = choose_taps(spec, n_points);
  PixelPoints pixels(rows_of(choice, untouched), usual_largest, bands);
  const PointReport report = report_of(spec, choice, pixels.plan());
  return {spec, std::move(pixels), report};
}

PointWork lensing_work(const TransformSpec& rows, const FieldAtPixels& lensed,
                       FrameRotation rotation, const Processors& processors) {
  const bool turns = rotation == FrameRotation::carried && rows.fields.max_spin() > 0;
  PointWork work = point_work(rows, lensed.report, lensed.sent_bytes(), processors);
  work.operations += static_cast<double>(lensed.report.most_points) *
                     ((rows.backend == Backend::host ? operations_of_position : 0) +
                      (turns ? operations_of_rotation : 0));
  return work;
}

LensedGrid::LensedGrid(const PointSpec& spec, std::shared_ptr<const RingGrid> grid)
    : spec_(spec.checked()),
      grid_(std::move(grid)),
      points_(spec_, grid_->n_pixels(), 2),
      deflection_(transform_of_deflection(spec_, grid_)) {}

Estimate LensedGrid::deflection(int n_ranks, int n_threads, const Machine& machine) const {
  TransformWork work = deflection_.shares(n_ranks).largest;
  work.n_threads = n_threads;
  return estimate_transform(work, machine).total();
}

PointShare LensedGrid::share(int n_ranks, int n_threads) const {
  const TransformPlan plan(deflection_.spec(), 0, n_ranks);
  const FieldAtPixels lensed =
      field_at_pixels(spec_, grid_->n_pixels(), UntouchedRows::left_out, plan.ring_bands);
  const int rank = lensed.pixels.busiest_rank();
  const PointMemory lensing =
      memory_of_lensing({spec_, usual_largest, n_threads}, lensed.pixels, rank);
  const DeflectionMemory deflection = memory_of_deflection(plan, n_threads);
  const std::int64_t data =
      8 * spec_.fields.n_components() * (2 * plan.alm.size() + lensed.pixels.counts(rank).listed);
  return {lensing_work(points_.rows(), lensed, FrameRotation::carried, {n_ranks, n_threads}),
          std::max(deflection.peak(), deflection.total() + lensing.total() + data)};
}

}  // namespace ringweave::detail::inline app
