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
#include "ringweave/alm.hpp"
#include "ringweave/execution.hpp"
#include "ringweave/transform.hpp"
#include "sphere/kernel/cap_polynomials.hpp"
#include "transform/transform_scaling.hpp"

namespace ringweave::detail::inline convolve {
namespace {

/// Returns a narrow Gaussian of a spin with degrees up to lmax, on the whole of a cap.
RadialKernel stand_in(double theta_cut, int lmax, int spin) {
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
  return RadialKernel::on_cap(theta_cut, coefficient, spin);
}

std::vector<double> supports_to_plan(std::span<const double> theta_cuts) {
  constexpr double between_plans = 2.5;
  std::vector<double> planned;
  for (const double angle : theta_cuts) {
    if (planned.empty() || angle >= between_plans * planned.back()) planned.push_back(angle);
  }
  if (planned.back() < theta_cuts.back()) planned.push_back(theta_cuts.back());
  return planned;
}

/// Costs on the machine of a specification. Transforms are prepared once for each number of
/// degrees, ring convolutions planned for a few supports and every number of ranks requested.
class PredictedCosts {
 public:
  explicit PredictedCosts(const KernelSplitSpec& spec)
      : spec_(spec), grid_(std::make_shared<const RingGrid>(RingGrid::healpix(spec.nside))) {}

  /// Estimates an adjoint and a synthesis.
  Estimate harmonic(int l_cut, int n_ranks) {
    TransformSpec spec;
    spec.grid = grid_;
    spec.lmax = spec.mmax = l_cut;
    spec.fields = field();
    const TransformScaling& scaling = scalings_.try_emplace(l_cut, spec).first->second;
    TransformWork work = scaling.shares(n_ranks).largest;
    work.n_threads = spec_.n_threads;
    if (spec_.backends.harmonic == Backend::cuda) {
      work.place = Place::device;
      work.ranks_of_device = std::min(n_ranks, spec_.machine->ranks_of_device);
    }
    return 2 * estimate_transform(work, machine()).total();
  }

  Estimate rings(double theta_cut, int n_ranks) {
    std::map<double, Estimate>& table = tables_[n_ranks];
    if (table.empty()) {
      for (const double angle : supports_to_plan(spec_.theta_cuts)) plan_rings(angle, n_ranks);
    }
    const auto above = table.lower_bound(theta_cut);
    if (above == table.end()) return table.rbegin()->second;
    if (above == table.begin() || above->first == theta_cut) return above->second;
    const auto below = std::prev(above);
    const double part = (theta_cut - below->first) / (above->first - below->first);
    return {std::lerp(below->second.seconds, above->second.seconds, part),
            std::lerp(below->second.sigma, above->second.sigma, part)};
  }

  void plan_rings(double theta_cut, int n_ranks) {
    RingConvolutionSpec spec;
    spec.grid = grid_;
    spec.kernels = {stand_in(theta_cut, static_cast<int>(ssize64(spec_.k_l)) - 1, spec_.spin)};
    spec.n_maps = field().n_components();
    spec.error = 1e-6;
    const RingConvolutionPlan plan(spec, 0, n_ranks);
    tables_[n_ranks].insert_or_assign(
        theta_cut, estimate_convolution(plan, machine(),
                                        {spec_.backends.rings, spec_.n_threads,
                                         std::min(n_ranks, spec_.machine->ranks_of_device)})
                       .total());
  }

  /// Estimates sending maps to the other group and back: the traffic of a rank of the smaller
  /// group, with one message per rank of the other group whose rings overlap its own.
  Estimate sending(int n_rings, int n_harmonic) const {
    const int fewer = std::min(n_rings, n_harmonic);
    const int more = std::max(n_rings, n_harmonic);
    const double pixels = static_cast<double>(field().n_components() * grid_->n_pixels());
    const double bytes = pixels * sizeof(double) / fewer;
    const int n_peers = std::min(more, more / fewer + 1);
    return 2 * exchange_estimate(machine().network, bytes, n_peers + 1);
  }

 private:
  const Machine& machine() const { return *spec_.machine->machine; }
  FieldSet field() const { return FieldSet({spec_.spin}); }

  KernelSplitSpec spec_;
  std::shared_ptr<const RingGrid> grid_;
  std::map<int, TransformScaling> scalings_;          ///< [l_cut]
  std::map<int, std::map<double, Estimate>> tables_;  ///< of rings, [ranks][support]
};

}  // namespace

SplitCosts split_costs(const KernelSplitSpec& spec) {
  const auto predicted = std::make_shared<PredictedCosts>(spec);
  SplitCosts costs = spec.machine->costs;
  if (!costs.harmonic) {
    costs.harmonic = [predicted](int l_cut, int n_ranks) {
      return predicted->harmonic(l_cut, n_ranks);
    };
  }
  if (!costs.rings) {
    costs.rings = [predicted](double theta_cut, int n_ranks) {
      return predicted->rings(theta_cut, n_ranks);
    };
    costs.plan_rings = [predicted](double theta_cut, int n_ranks) {
      predicted->plan_rings(theta_cut, n_ranks);
    };
  }
  if (!costs.sending) {
    costs.sending = [predicted](int n_rings, int n_harmonic) {
      return predicted->sending(n_rings, n_harmonic);
    };
  }
  costs.at_once = costs.at_once || spec.backends.work_at_once();
  return costs;
}

}  // namespace ringweave::detail::inline convolve
