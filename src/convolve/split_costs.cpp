// SPDX-License-Identifier: GPL-3.0-or-later
#include "convolve/split_costs.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "convolve/ring_convolution_estimate.hpp"
#include "sphere/cap_polynomials.hpp"
#include "transform/transform_scaling.hpp"

namespace ringweave {
namespace {

/// An adjoint and a synthesis.
double seconds_of_transforms(const std::shared_ptr<const RingGrid>& grid, int l_cut,
                             const SplitMachine& on) {
  TransformSpec spec;
  spec.grid = grid;
  spec.lmax = spec.mmax = l_cut;
  TransformWork work = TransformScaling(spec).shares(on.n_ranks).largest;
  work.n_threads = on.n_threads;
  return 2 * estimate_transform(work, *on.machine).total().seconds;
}

/// A narrow Gaussian with degrees up to lmax, on the whole of a cap.
RadialKernel stand_in(double theta_cut, int lmax) {
  const int size = CapPolynomials::size_for(theta_cut, lmax);
  const CapPolynomials polynomials(theta_cut, size);
  const CapNodes nodes = cap_nodes(theta_cut, size, lmax);
  const double sigma = 5.0 / lmax;
  std::vector<double> value(to_size(size));
  std::vector<double> coefficient(to_size(size), 0.0);
  for (std::size_t i = 0; i < nodes.u.size(); ++i) {
    polynomials.evaluate(nodes.u[i], value);
    const double gaussian =
        nodes.weight[i] * std::exp(-nodes.chord_squared[i] / (2 * sigma * sigma));
    for (std::size_t k = 0; k < value.size(); ++k) coefficient[k] += gaussian * value[k];
  }
  return RadialKernel::on_cap(theta_cut, coefficient);
}

struct Predicted {
  double theta_cut;
  double seconds;
};

}  // namespace

double SplitCosts::total(double harmonic_seconds, double ring_seconds) const {
  return order == Order::side_by_side ? std::max(harmonic_seconds, ring_seconds)
                                      : harmonic_seconds + ring_seconds;
}

SplitCosts predicted_split_costs(const std::shared_ptr<const RingGrid>& grid, int lmax,
                                 double least_theta_cut, double most_theta_cut,
                                 const SplitMachine& on) {
  constexpr int n_plans = 4;
  std::vector<Predicted> table;
  for (int i = 0; i < n_plans; ++i) {
    const double part = static_cast<double>(i) / (n_plans - 1);
    const double angle = least_theta_cut + part * (most_theta_cut - least_theta_cut);
    RingConvolutionSpec spec;
    spec.grid = grid;
    spec.kernels = {stand_in(angle, lmax)};
    spec.error = 1e-6;
    const RingConvolutionPlan plan(spec, 0, on.n_ranks);
    const double seconds = estimate_convolution(plan, *on.machine, on.n_threads).total().seconds;
    if (table.empty() || angle > table.back().theta_cut) table.push_back({angle, seconds});
  }
  SplitCosts costs;
  costs.harmonic = [grid, on](int l_cut) { return seconds_of_transforms(grid, l_cut, on); };
  costs.rings = [table = std::move(table)](double theta_cut) {
    if (table.size() == 1) return table.front().seconds;
    std::size_t i = 1;
    while (i + 1 < table.size() && theta_cut > table[i].theta_cut) ++i;
    const Predicted& a = table[i - 1];
    const Predicted& b = table[i];
    const double part = (theta_cut - a.theta_cut) / (b.theta_cut - a.theta_cut);
    return a.seconds + part * (b.seconds - a.seconds);
  };
  return costs;
}

}  // namespace ringweave
