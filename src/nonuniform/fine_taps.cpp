// SPDX-License-Identifier: GPL-3.0-or-later
#include "nonuniform/fine_taps.hpp"

#include <utility>

#include "legendre/deconvolved_rows.hpp"

namespace ringweave::detail::inline nonuniform {
namespace {

/// Returns (-1)^spin of every component.
std::vector<double> signs_beyond_pole(const FieldSet& fields) {
  std::vector<double> signs;
  for (const FieldSet::Field& field : fields.fields())
    signs.insert(signs.end(), field.spin > 0 ? 2 : 1, field.spin % 2 == 0 ? 1.0 : -1.0);
  return signs;
}

}  // namespace

TapChoice choose_taps(const PointSpec& spec, std::int64_t n_points) {
  return choose_taps({.lmax = spec.lmax,
                      .mmax = spec.mmax,
                      .epsilon = spec.epsilon,
                      .n_points = n_points,
                      .n_components = static_cast<int>(spec.fields.n_components())});
}

FineRows rows_of(const TapChoice& choice, UntouchedRows untouched) {
  return {std::make_shared<const RingGrid>(RingGrid::fejer(choice.theta.length, choice.phi.length)),
          choice.theta.width, choice.phi.width, untouched};
}

PointReport report_of(const PointSpec& spec, const TapChoice& choice, const PointPlan& plan) {
  const PointLoad most = plan.most();
  const PointLoad all = plan.total();
  return {.theta_taps = choice.theta.width,
          .phi_taps = choice.phi.width,
          .fine_rows = choice.theta.length,
          .fine_columns = choice.phi.length,
          .theta_oversampling = static_cast<double>(choice.theta.length) / (spec.lmax + 1),
          .phi_oversampling = static_cast<double>(choice.phi.length) / (2 * spec.mmax + 2),
          .predicted_error = choice.error,
          .points = plan.n_points(),
          .most_points = most.points,
          .mean_points = static_cast<double>(all.points) / plan.n_ranks(),
          .most_rows = most.rows,
          .mean_rows = static_cast<double>(all.rows) / plan.n_ranks()};
}

FineTaps::FineTaps(const PointSpec& spec, std::int64_t n_points)
    : choice(choose_taps(spec, n_points)),
      theta(choice.theta.width, choice.theta.oversampling),
      phi(choice.phi.width, choice.phi.oversampling),
      grid{choice.theta.length, choice.phi.length, choice.theta.width, choice.phi.width},
      beyond_pole(signs_beyond_pole(spec.fields)),
      ring_grid_(rows_of(choice, UntouchedRows::left_out).grid) {}

FineRows FineTaps::rows(UntouchedRows untouched) const {
  return {ring_grid_, choice.theta.width, choice.phi.width, untouched};
}

TransformSpec FineTaps::transform_spec(const PointSpec& asked,
                                       const RingDistribution& bands) const {
  // Factors that make up for the taps.
  auto deconvolved = std::make_shared<DeconvolvedRows>();
  deconvolved->n_rows = grid.n_rows;
  const auto inverse = [](const TapKernel& kernel, std::int64_t k, std::int64_t samples) {
    return 1 / kernel.transform(static_cast<double>(k) / static_cast<double>(samples));
  };
  for (int k = 0; k <= asked.lmax; ++k)
    deconvolved->theta_factors.push_back(inverse(theta, k, 2 * grid.n_rows));
  for (int m = 0; m <= asked.mmax; ++m)
    deconvolved->order_factors.push_back(inverse(phi, m, grid.n_columns));
  TransformSpec spec;
  spec.grid = bands.grid();
  spec.lmax = asked.lmax;
  spec.mmax = asked.mmax;
  spec.fields = asked.fields;
  spec.backend = asked.backend;
  spec.exchange = asked.exchange;
  spec.ring_bands = std::make_shared<const RingDistribution>(bands);
  spec.fine_rows = std::move(deconvolved);
  return spec;
}

}  // namespace ringweave::detail::inline nonuniform
