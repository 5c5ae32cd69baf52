// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/predict/lensing_prediction.hpp"

#include <algorithm>
#include <utility>

#include "nonuniform/lensing_memory.hpp"
#include "transform/transform_estimate.hpp"
#include "transform/transform_plan.hpp"

namespace ringweave::detail::inline app {
namespace {

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

Estimate estimate_pixels(double n_pixels, double each, int n_threads, const Machine& machine) {
  PointWork work;
  work.operations = n_pixels * each;
  work.n_threads = n_threads;
  return estimate_points(work, machine).points;
}

LensedGrid::LensedGrid(const PointSpec& spec, std::shared_ptr<const RingGrid> grid)
    : spec_(spec.checked()),
      grid_(std::move(grid)),
      points_(spec_, grid_->n_pixels(), 2),
      deflection_(transform_of_deflection(spec_, grid_)) {}

Estimate LensedGrid::deflection(int n_ranks, int n_threads, const Machine& machine) const {
  TransformWork work = deflection_.shares(n_ranks).largest;
  work.n_threads = n_threads;
  const double rotation = spec_.fields.max_spin() > 0 ? operations_of_rotation : 0;
  return estimate_transform(work, machine).total() +
         estimate_pixels(static_cast<double>(grid_->n_pixels()) / n_ranks,
                         operations_of_position + rotation, n_threads, machine);
}

std::int64_t LensedGrid::memory(int n_ranks, int n_threads) const {
  const TransformPlan plan(deflection_.spec(), 0, n_ranks);
  const PixelPoints pixels = pixels_of_lensing(spec_, plan.ring_bands);
  const int rank = pixels.busiest_rank();
  const PointMemory lensing = memory_of_lensing({spec_, 0, n_threads}, pixels, rank);
  const DeflectionMemory deflection = memory_of_deflection(plan, n_threads);
  const std::int64_t n_components = spec_.fields.n_components();
  const std::int64_t data = 8 * n_components * (2 * plan.alm.size() + pixels.n_pixels(rank));
  return std::max(deflection.peak(), deflection.total() + lensing.total() + data);
}

}  // namespace ringweave::detail::inline app
