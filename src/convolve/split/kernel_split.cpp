// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numbers>
#include <utility>

#include "base/checked_cast.hpp"
#include "base/first_error.hpp"
#include "convolve/split/split_placement.hpp"
#include "convolve/split/split_search.hpp"
#include "ringweave/convolution.hpp"
#include "ringweave/error.hpp"
#include "ringweave/kernel.hpp"
#include "sphere/kernel/cap_polynomials.hpp"
#include "sphere/kernel/kernel_shape.hpp"

namespace ringweave {

using namespace detail;

namespace {

constexpr double arcmin = std::numbers::pi / (180 * 60);

[[noreturn]] void refuse_split(const std::string& what) {
  throw UsageError("kernel splitting: " + what);
}

void require_multipoles(const KernelSplitSpec& spec) {
  if (spec.spin < 0 || spec.spin > RadialKernel::most_spin) {
    refuse_split(
        fmt::format("fields of spin {}; expected 0 to {}", spec.spin, RadialKernel::most_spin));
  }
  for (std::size_t l = 0; l < spec.k_l.size(); ++l) {
    if (std::isfinite(spec.k_l[l])) continue;
    refuse_split(fmt::format("K_{} is {}; expected finite numbers", l, spec.k_l[l]));
  }
  const int lmax = checked_cast<int>(ssize64(spec.k_l) - 1, "lmax of a kernel");
  if (lmax <= spec.spin) {
    refuse_split(
        fmt::format("{} values of K_l; expected lmax of {} or more", lmax + 1, spec.spin + 1));
  }
  if (spec.nside < 1) refuse_split(fmt::format("nside = {}; expected 1 or more", spec.nside));
  if (lmax > 3 * spec.nside - 1) {
    refuse_split(
        fmt::format("lmax = {} is more than nside = {} holds; expected at most 3 nside - 1 = {}",
                    lmax, spec.nside, 3 * spec.nside - 1));
  }
}

void require_spectrum_for(const KernelSplitSpec& spec) {
  if (!spec.cl.empty()) {
    require_spectrum(spec.cl);
    if (spec.cl.size() < spec.k_l.size()) {
      refuse_split(fmt::format("C_l to lmax = {} for a kernel to lmax = {}; give as many of both",
                               ssize64(spec.cl) - 1, ssize64(spec.k_l) - 1));
    }
  }
  for (std::size_t l = to_size(spec.spin); l < spec.k_l.size(); ++l) {
    if (spec.k_l[l] != 0 && (spec.cl.empty() || spec.cl[l] != 0)) return;
  }
  refuse_split("no degree has both a K_l and a C_l other than 0, so nothing is left of the map");
}

void require_bounds(const KernelSplitSpec& spec) {
  if (!(spec.error >= KernelSupport::least_error && spec.error < 1)) {
    refuse_split(
        fmt::format("an error of {}; expected {} (below that all is rounding) or more, and less "
                    "than 1",
                    spec.error, KernelSupport::least_error));
  }
  if (!(spec.alpha >= 1 && std::isfinite(spec.alpha)))
    refuse_split(fmt::format("alpha = {}; expected 1 or more", spec.alpha));
  if (!(spec.convolver_error >= 0 && spec.convolver_error < 1))
    refuse_split(fmt::format("a convolver's error of {}; expected 0 to 1", spec.convolver_error));
  const int n_ranks = spec.n_ranks;
  const int n_harmonic = spec.n_harmonic.value_or(0);
  if (n_ranks < 1 || n_harmonic < 0 || n_harmonic >= n_ranks) {
    refuse_split(
        fmt::format("{} of {} ranks for the harmonic part and others for the rings; expected 0 "
                    "(one after the other) to {}",
                    n_harmonic, n_ranks, n_ranks - 1));
  }
  double before = 0;
  for (const double angle : spec.theta_cuts) {
    if (!(angle > before && angle <= CapPolynomials::most_theta_cut)) {
      refuse_split(
          fmt::format("a support of {} rad after {} rad; expected ascending angles, at most {}",
                      angle, before, CapPolynomials::most_theta_cut));
    }
    before = angle;
  }
}

/// About 4 to 600 arcmin at lmax 4096.
std::vector<double> usual_supports(int lmax) {
  constexpr int count = 20;
  constexpr double step = 36;
  std::vector<double> angles;
  const auto add = [&](double steps) {
    const double angle = step * steps / lmax;
    if (angle <= CapPolynomials::most_theta_cut) angles.push_back(angle);
  };
  for (const double part : {0.125, 0.25, 0.5, 0.75}) add(part);
  for (int i = 1; i <= count; ++i) add(i);
  if (angles.empty()) angles.push_back(CapPolynomials::most_theta_cut);
  return angles;
}

std::vector<CompactFit> search(const KernelSplitSpec& spec, const SplitWeights& weights) {
  std::vector<CompactFit> fits(spec.theta_cuts.size());
  FirstError error;
#pragma omp parallel for schedule(dynamic, 1)
  for (std::int64_t i = ssize64(fits) - 1; i >= 0; --i) {
    error.guard(
        [&] { fits[to_size(i)] = search_l_cut(spec, weights, spec.theta_cuts[to_size(i)]); });
  }
  error.rethrow();
  return fits;
}

/// False where the harmonic part is the whole kernel.
bool has_compact_part(const CompactFit& fit) {
  return std::any_of(fit.coefficient.begin(), fit.coefficient.end(),
                     [](double x) { return x != 0; });
}

SplitCandidate predicted(const KernelSplitSpec& spec, const SplitCosts& costs,
                         const SplitCandidate& candidate) {
  return place_split(costs, candidate, spec.n_ranks, spec.n_harmonic);
}

/// Returns the index of the fastest candidate found, if there is one; the costs of its rings are
/// planned, not interpolated.
std::optional<std::size_t> find_fastest(const KernelSplitSpec& spec, const SplitCosts& costs,
                                        std::vector<SplitCandidate>& scan) {
  const auto seconds = [](const SplitCandidate& candidate) {
    return candidate.is_found ? candidate.total.seconds : std::numeric_limits<double>::infinity();
  };
  std::vector<bool> is_planned(scan.size(), !costs.plan_rings);
  for (;;) {
    const auto fastest = std::min_element(
        scan.begin(), scan.end(),
        [&](const SplitCandidate& a, const SplitCandidate& b) { return seconds(a) < seconds(b); });
    if (fastest == scan.end() || !fastest->is_found) return std::nullopt;
    const std::size_t i = to_size(fastest - scan.begin());
    if (is_planned[i]) return i;
    costs.plan_rings(fastest->theta_cut, spec.n_ranks - fastest->n_harmonic);
    *fastest = predicted(spec, costs, *fastest);
    is_planned[i] = true;
  }
}

/// The candidates of all supports with predicted times, and the one that is chosen.
struct Scan {
  std::vector<SplitCandidate> candidates{};
  std::optional<std::size_t> fastest{};
};

Scan scan_by(const KernelSplitSpec& spec, const SplitCosts& costs,
             const std::vector<CompactFit>& fits) {
  Scan scan;
  for (const CompactFit& fit : fits) {
    SplitCandidate& candidate = scan.candidates.emplace_back(fit.candidate);
    candidate.is_found = candidate.is_found && has_compact_part(fit);
    if (candidate.is_found) candidate = predicted(spec, costs, candidate);
  }
  scan.fastest = find_fastest(spec, costs, scan.candidates);
  return scan;
}

/// Returns the specification for one rank and thread of the host.
KernelSplitSpec on_one_core(KernelSplitSpec spec) {
  spec.n_ranks = spec.n_threads = 1;
  spec.backends = {};
  spec.n_harmonic.reset();
  return spec;
}

/// Returns the error for a compact part with the given multipoles, up to weights.last.
SplitError error_of(const KernelSplitSpec& spec, const SplitWeights& weights, int l_cut,
                    const std::vector<double>& compact, const std::vector<double>& coefficient) {
  double fit = 0;
  double aliased = 0;
  double cancelled = 0;
  double power = 0;
  for (std::size_t l = 0; l < compact.size(); ++l) {
    const double missed = weights.weight[l] * (weights.k_l[l] - compact[l]);
    const double carried = weights.weight[l] * compact[l];
    const int degree = static_cast<int>(l);
    if (degree <= l_cut) {
      cancelled += carried * carried;
    } else {
      (degree <= weights.lmax ? fit : aliased) += missed * missed;
    }
    power += (2.0 * degree + 1) * compact[l] * compact[l];
  }
  double square = 0;
  for (const double x : coefficient) square += 4 * std::numbers::pi * x * x;
  aliased += weights.beyond * weights.beyond * std::max(0.0, square - power);
  SplitError error;
  error.fit = std::sqrt(fit);
  error.aliased = std::sqrt(aliased);
  error.rounding = spec.convolver_error * std::sqrt(cancelled);
  error.total = std::hypot(spec.alpha * error.fit, error.aliased, error.rounding);
  return error;
}

std::string why_no_parts(const KernelSplitSpec& spec, const std::vector<SplitCandidate>& scan) {
  const SplitCandidate& closest = *std::min_element(
      scan.begin(), scan.end(),
      [](const SplitCandidate& a, const SplitCandidate& b) { return a.error < b.error; });
  if (closest.error <= spec.error)
    return fmt::format("the kernel ends at l = {}: a_lm up to there are all of it", closest.l_cut);
  return fmt::format(
      "no compact part keeps the error within {:.3g}: of {} supports from {:.4g} to {:.4g} arcmin "
      "the best, {:.4g}, leaves {:.3g} with l_cut = lmax - 1; smooth with all degrees of the a_lm, "
      "or allow a larger error",
      spec.error, scan.size(), scan.front().theta_cut / arcmin, scan.back().theta_cut / arcmin,
      closest.theta_cut / arcmin, closest.error);
}

}  // namespace

struct KernelSplit::Data {
  std::int64_t nside;
  Verdict verdict = Verdict::harmonic;
  std::string reason{};
  std::vector<SplitCandidate> scan{};
  std::optional<SplitCandidate> best{};
  std::optional<RadialKernel> compact{};
  std::vector<double> harmonic{};
  SplitError error{};
  Estimate harmonic_only{};

  Data(const KernelSplitSpec& spec, const SplitCosts& costs, const SplitWeights& weights,
       const std::vector<CompactFit>& fits, Scan found);
  /// Makes the parts of a fit, again with a smaller bound where they miss it; none where they miss
  /// it three times.
  void make_parts(const KernelSplitSpec& spec, const SplitCosts& costs, const SplitWeights& weights,
                  CompactFit fit);
  void judge(int n_ranks);
  /// Returns itself. Error  UsageError when there are no parts.
  const Data& with_parts() const {
    if (!best) refuse_split(reason);
    return *this;
  }
};

KernelSplit::Data::Data(const KernelSplitSpec& spec, const SplitCosts& costs,
                        const SplitWeights& weights, const std::vector<CompactFit>& fits,
                        Scan found)
    : nside(spec.nside),
      scan(std::move(found.candidates)),
      harmonic_only(costs.harmonic(weights.lmax, spec.n_ranks)) {
  if (!found.fastest) {
    reason = why_no_parts(spec, scan);
    return;
  }
  make_parts(spec, costs, weights, fits[*found.fastest]);
  if (best) {
    judge(spec.n_ranks);
    return;
  }
  SplitCandidate& missed = scan[*found.fastest];
  missed.is_found = false;
  missed.error = error.total;
}

void KernelSplit::Data::make_parts(const KernelSplitSpec& spec, const SplitCosts& costs,
                                   const SplitWeights& weights, CompactFit fit) {
  KernelSplitSpec stricter = spec;
  // Rounding hides a little of the error from the search.
  for (int attempt = 0; attempt < 3 && fit.candidate.is_found; ++attempt) {
    best = predicted(spec, costs, fit.candidate);
    compact = RadialKernel::on_cap(best->theta_cut, fit.coefficient, spec.spin);
    const std::vector<double> multipoles = compact->multipoles(weights.last);
    harmonic.clear();
    for (int l = 0; l <= best->l_cut; ++l)
      harmonic.push_back(weights.k_l[to_size(l)] - multipoles[to_size(l)]);
    error = error_of(spec, weights, best->l_cut, multipoles, fit.coefficient);
    if (error.total <= spec.error) return;
    stricter.error *= 0.99 * spec.error / error.total;
    fit = search_l_cut(stricter, weights, best->theta_cut);
  }
  reason = fmt::format(
      "the split at theta_cut = {:.4g} arcmin has an error of {:.4g}, more than {:.4g}; smooth "
      "with all degrees, or allow a larger error",
      best->theta_cut / arcmin, error.total, spec.error);
  best.reset();
}

void KernelSplit::Data::judge(int n_ranks) {
  std::string parts = fmt::format("l_cut = {} and theta_cut = {:.4g} arcmin", best->l_cut,
                                  best->theta_cut / arcmin);
  if (best->n_harmonic > 0) {
    parts += fmt::format(" side by side, harmonics on {} of {} ranks", best->n_harmonic, n_ranks);
  }
  if (best->total.seconds >= harmonic_only.seconds) {
    reason = fmt::format(
        "the fastest split, {}, is predicted to take {:.3g} s, all degrees of the a_lm {:.3g} s",
        parts, best->total.seconds, harmonic_only.seconds);
  } else if (best->l_cut < 0) {
    verdict = Verdict::rings;
    reason = fmt::format("the kernel ends within {:.4g} arcmin: rings alone keep the error",
                         best->theta_cut / arcmin);
  } else {
    verdict = Verdict::split;
    reason = fmt::format("{}: {:.3g} s instead of {:.3g} s, predicted", parts, best->total.seconds,
                         harmonic_only.seconds);
  }
}

KernelSplit::KernelSplit(const KernelSplitSpec& spec) {
  const Place place{spec.backends, spec.n_harmonic, spec.choice};
  *this = in_places(spec, {&place, 1}).front();
}

KernelSplit::KernelSplit(std::shared_ptr<const Data> data) : data_(std::move(data)) {}

std::vector<KernelSplit> KernelSplit::in_places(const KernelSplitSpec& asked,
                                                std::span<const Place> places) {
  require_multipoles(asked);
  require_spectrum_for(asked);
  KernelSplitSpec spec = asked;
  if (spec.theta_cuts.empty())
    spec.theta_cuts = usual_supports(static_cast<int>(ssize64(spec.k_l)) - 1);
  if (spec.machine == nullptr) spec.machine = std::make_shared<const SplitMachine>();
  for (const Place& place : places) {
    spec.n_harmonic = place.n_harmonic;
    require_bounds(spec);
  }
  const SplitWeights weights(spec);
  const std::vector<CompactFit> fits = search(spec, weights);
  std::optional<Scan> by_one_core;
  std::vector<KernelSplit> splits;
  for (const Place& place : places) {
    KernelSplitSpec here = spec;
    here.backends = place.backends;
    here.n_harmonic = place.n_harmonic;
    if (place.choice == SplitChoice::one_core) {
      if (!by_one_core) {
        const KernelSplitSpec one = on_one_core(spec);
        by_one_core = scan_by(one, split_costs(one), fits);
      }
      // Rings are planned for the chosen support alone.
      if (const auto chosen = by_one_core->fastest) here.theta_cuts = {spec.theta_cuts[*chosen]};
    }
    const SplitCosts costs = split_costs(here);
    Scan scan = place.choice == SplitChoice::one_core ? *by_one_core : scan_by(here, costs, fits);
    splits.push_back(
        KernelSplit(std::make_shared<const Data>(here, costs, weights, fits, std::move(scan))));
  }
  return splits;
}

KernelSplit::Verdict KernelSplit::verdict() const { return data_->verdict; }
const std::string& KernelSplit::reason() const { return data_->reason; }
bool KernelSplit::has_parts() const { return data_->best.has_value(); }
const SplitCandidate& KernelSplit::best() const { return *data_->with_parts().best; }
const std::vector<double>& KernelSplit::harmonic() const { return data_->with_parts().harmonic; }
const RadialKernel& KernelSplit::compact() const { return *data_->with_parts().compact; }
const SplitError& KernelSplit::error() const { return data_->with_parts().error; }
const std::vector<SplitCandidate>& KernelSplit::scan() const { return data_->scan; }
std::int64_t KernelSplit::nside() const { return data_->nside; }
const Estimate& KernelSplit::harmonic_only() const { return data_->harmonic_only; }

}  // namespace ringweave
