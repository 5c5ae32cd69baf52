// SPDX-License-Identifier: GPL-3.0-or-later
#include "convolve/split_costs.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "convolve/ring_convolution_plan.hpp"
#include "sphere/cap_polynomials.hpp"

namespace ringweave {
namespace {

/// Nanoseconds of one useful operation of the Legendre stage; docs/performance.md, machine A.
constexpr double legendre_operation = 1.0 / 80;

/// Two transforms: significant (l, m) of every pair of rings, and two FFTs of every ring.
double seconds_of_transforms(const RingGrid& grid, int l_cut) {
  const ConvolutionRates rates;
  const RingRange equal = EqualRun::for_grid(grid).rings;
  double nanoseconds = 0;
  for (std::int64_t r = 0; r < grid.n_rings(); ++r) {
    const Ring& ring = grid.ring(RingId{r});
    const double orders =
        std::min(l_cut * ring.sin_theta + std::max(100.0, l_cut / 100.0), 1.0 * l_cut);
    const double modes = (orders + 1) * (l_cut + 1 - orders / 2);
    nanoseconds += 6 * modes / 2 * legendre_operation;
    nanoseconds += (equal.contains(r) ? rates.equal_ring_fft : rates.ring_fft) *
                   static_cast<double>(ring.n_phi);
  }
  return 2e-9 * nanoseconds;
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
                                 double least_theta_cut, double most_theta_cut) {
  constexpr int n_plans = 4;
  std::vector<Predicted> table;
  for (int i = 0; i < n_plans; ++i) {
    const double part = static_cast<double>(i) / (n_plans - 1);
    const double angle = least_theta_cut + part * (most_theta_cut - least_theta_cut);
    RingConvolutionSpec spec;
    spec.grid = grid;
    spec.kernels = {stand_in(angle, lmax)};
    spec.error = 1e-6;
    const double seconds = RingConvolutionPlan(spec, 0, 1).predicted().total();
    if (table.empty() || angle > table.back().theta_cut) table.push_back({angle, seconds});
  }
  SplitCosts costs;
  costs.harmonic = [grid](int l_cut) { return seconds_of_transforms(*grid, l_cut); };
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
