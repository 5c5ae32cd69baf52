// SPDX-License-Identifier: GPL-3.0-or-later
#include "convolve/split/split_costs.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "convolve/ring/ring_convolution_estimate.hpp"
#include "ringweave/options.hpp"
#include "ringweave/transform.hpp"
#include "sphere/kernel/cap_polynomials.hpp"
#include "transform/transform_scaling.hpp"

namespace ringweave::detail::inline convolve {
namespace {

/// Estimates an adjoint and a synthesis.
Estimate estimate_harmonic(const TransformScaling& scaling, const SplitMachine& on, int n_ranks) {
  TransformWork work = scaling.shares(n_ranks).largest;
  work.n_threads = on.n_threads;
  if (on.harmonic.backend == Backend::cuda) {
    work.place = Place::device;
    work.ranks_of_device = std::min(n_ranks, on.ranks_of_device);
  }
  return 2 * estimate_transform(work, *on.machine).total();
}

/// Returns a narrow Gaussian with degrees up to lmax, on the whole of a cap.
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

/// Costs of the ring part, from a few plans for every number of ranks requested.
class RingCosts {
 public:
  RingCosts(std::shared_ptr<const RingGrid> grid, int lmax, std::vector<double> theta_cuts,
            const SplitMachine& on)
      : grid_(std::move(grid)), lmax_(lmax), theta_cuts_(std::move(theta_cuts)), on_(on) {}

  Estimate estimate(double theta_cut, int n_ranks) {
    std::map<double, Estimate>& table = tables_[n_ranks];
    if (table.empty()) {
      for (const double angle : theta_cuts_) plan(angle, n_ranks);
    }
    const auto above = table.lower_bound(theta_cut);
    if (above == table.end()) return table.rbegin()->second;
    if (above == table.begin() || above->first == theta_cut) return above->second;
    const auto below = std::prev(above);
    const double part = (theta_cut - below->first) / (above->first - below->first);
    return {std::lerp(below->second.seconds, above->second.seconds, part),
            std::lerp(below->second.sigma, above->second.sigma, part)};
  }

  void plan(double theta_cut, int n_ranks) {
    RingConvolutionSpec spec;
    spec.grid = grid_;
    spec.kernels = {stand_in(theta_cut, lmax_)};
    spec.error = 1e-6;
    const RingConvolutionPlan plan(spec, 0, n_ranks);
    tables_[n_ranks].insert_or_assign(
        theta_cut, estimate_convolution(plan, *on_.machine, on_.n_threads).total());
  }

 private:
  std::shared_ptr<const RingGrid> grid_;
  int lmax_;
  std::vector<double> theta_cuts_;
  SplitMachine on_;
  std::map<int, std::map<double, Estimate>> tables_;  ///< [ranks][support]
};

/// Estimates sending maps to the other group and back: the traffic of a rank of the smaller group,
/// with one message per rank of the other group whose rings overlap its own.
Estimate estimate_of_sending(const RingGrid& grid, const Network& network, int n_rings,
                             int n_harmonic) {
  const int fewer = std::min(n_rings, n_harmonic);
  const int more = std::max(n_rings, n_harmonic);
  const double bytes = static_cast<double>(grid.n_pixels()) * sizeof(double) / fewer;
  const int n_peers = std::min(more, more / fewer + 1);
  return 2 * exchange_estimate(network, bytes, n_peers + 1);
}

}  // namespace

SplitCosts predicted_split_costs(const std::shared_ptr<const RingGrid>& grid, int lmax,
                                 std::span<const double> theta_cuts, const SplitMachine& on) {
  constexpr double between_plans = 2.5;
  std::vector<double> planned;
  for (const double angle : theta_cuts) {
    if (planned.empty() || angle >= between_plans * planned.back()) planned.push_back(angle);
  }
  if (planned.back() < theta_cuts.back()) planned.push_back(theta_cuts.back());
  // Each number of degrees is prepared once.
  const auto scalings = std::make_shared<std::map<int, TransformScaling>>();
  const auto rings = std::make_shared<RingCosts>(grid, lmax, std::move(planned), on);
  SplitCosts costs;
  costs.harmonic = [grid, on, scalings](int l_cut, int n_ranks) {
    TransformSpec spec;
    spec.grid = grid;
    spec.lmax = spec.mmax = l_cut;
    return estimate_harmonic(scalings->try_emplace(l_cut, spec).first->second, on, n_ranks);
  };
  costs.rings = [rings](double theta_cut, int n_ranks) {
    return rings->estimate(theta_cut, n_ranks);
  };
  costs.plan_rings = [rings](double theta_cut, int n_ranks) { rings->plan(theta_cut, n_ranks); };
  costs.sending = [grid, on](int n_rings, int n_harmonic) {
    return estimate_of_sending(*grid, on.machine->network, n_rings, n_harmonic);
  };
  return costs;
}

}  // namespace ringweave::detail::inline convolve
