// SPDX-License-Identifier: GPL-3.0-or-later
#include "convolve/split/split_search.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "base/checked_cast.hpp"
#include "convolve/split/aliased_spectrum.hpp"
#include "sphere/kernel/cap_polynomials.hpp"

namespace ringweave::detail::inline convolve {
namespace {

/// Factor on the amplitude of aliased_spectrum(). Errors above lmax were up to 2.8 times as large,
/// most where few degrees have most of the power (docs/kernel_splitting.md).
constexpr double aliased_margin = 3;

/// Searches all l_cut for one support. Degrees are added to the fit from lmax downwards, block by
/// block; those below l_cut, which are not fitted, come last.
class SupportSearch {
 public:
  SupportSearch(const KernelSplitSpec& spec, const SplitWeights& weights, double theta_cut)
      : spec_(spec),
        weights_(weights),
        multipoles_(theta_cut, CapPolynomials::size_for(theta_cut, weights.lmax), weights.lmax,
                    weights.last, spec.spin) {}

  CompactFit run() {
    fits_.push_back(above_lmax());
    std::size_t block = block_of(weights_.lmax);
    // The residual lacks the cost of degrees below l_cut: a lower bound.
    for (;; --block) {
      TriangularFit next = fits_.back();
      add_fitted(block, blocks()[block].first, next);
      if (next.residual() > spec_.error) break;
      fits_.push_back(std::move(next));
      if (block == 0) break;
    }
    return refine();
  }

 private:
  const std::vector<CapMultipoles::Block>& blocks() const { return multipoles_.blocks(); }

  std::size_t block_of(int l) const {
    std::size_t block = 0;
    while (blocks()[block].end() <= l) ++block;
    return block;
  }

  void add(std::size_t block, std::span<const double> weight, std::span<const double> target,
           TriangularFit& fit) const {
    std::vector<double> rows = multipoles_.fit_rows(blocks()[block], weight, target);
    fit.add(rows);
  }

  std::vector<double> weights_of(std::size_t block, double factor) const {
    const CapMultipoles::Block& b = blocks()[block];
    std::vector<double> weight(weights_.weight.begin() + b.first,
                               weights_.weight.begin() + b.end());
    for (double& w : weight) w *= factor;
    return weight;
  }

  /// Adds the degrees of a block from `first` on.
  void add_fitted(std::size_t block, int first, TriangularFit& fit) const {
    const CapMultipoles::Block& b = blocks()[block];
    std::vector<double> weight = weights_of(block, spec_.alpha);
    std::fill_n(weight.begin(), std::max(0, first - b.first), 0.0);
    add(block, weight, std::span(weights_.k_l).subspan(to_size(b.first), to_size(b.size)), fit);
  }

  /// Adds degrees up to l_cut: power there is cancelled by the harmonic part, rounding errors are
  /// not.
  void add_cancelled(int l_cut, TriangularFit& fit) const {
    for (std::size_t block = 0; block < blocks().size() && blocks()[block].first <= l_cut;
         ++block) {
      std::vector<double> weight = weights_of(block, spec_.convolver_error);
      const int left_out = std::max(0, blocks()[block].end() - 1 - l_cut);
      std::fill_n(weight.rbegin(), left_out, 0.0);
      add(block, weight, {}, fit);
    }
  }

  TriangularFit above_lmax() const {
    const std::size_t n = to_size(multipoles_.n_polynomials());
    // Differences of numbers near 4 pi.
    constexpr double rounding = 2e-13;
    std::vector<double> rows = rows_of_normal_matrix(multipoles_.beyond_last(), n, rounding);
    for (double& value : rows) value *= weights_.beyond;
    TriangularFit fit(n);
    fit.add(rows);
    // Errors of the convolver that are equal in all degrees; they also keep the fit definite.
    rows.assign(n * (n + 1), 0.0);
    const double error = std::max(spec_.convolver_error, 1e-8) * std::sqrt(4 * std::numbers::pi);
    for (std::size_t k = 0; k < n; ++k) rows[k * (n + 2)] = error * weights_.beyond;
    fit.add(rows);
    for (std::size_t block = 0; block < blocks().size(); ++block) {
      if (blocks()[block].first > weights_.lmax) add(block, weights_of(block, 1), {}, fit);
    }
    return fit;
  }

  /// Returns the fit of all degrees above l_cut, with l_cut within the block below those of
  /// fits_.back().
  TriangularFit fit_for(int l_cut) const {
    // fits_[i] has i blocks.
    const std::size_t top = block_of(weights_.lmax);
    const std::size_t block = l_cut >= 0 ? block_of(l_cut) : 0;
    const bool begins_block = l_cut + 1 == (l_cut >= 0 ? blocks()[block].end() : 0);
    const std::size_t whole = l_cut >= 0 ? top - block : top + 1;
    TriangularFit fit = fits_[whole];
    if (l_cut >= 0 && !begins_block) add_fitted(block, l_cut + 1, fit);
    add_cancelled(l_cut, fit);
    return fit;
  }

  CompactFit refine() const {
    const std::size_t top = block_of(weights_.lmax);
    const auto border_of = [&](std::size_t n_blocks) {  // l_cut that leaves this many blocks
      return n_blocks == top + 1 ? -1 : blocks()[top - n_blocks].end() - 1;
    };
    CompactFit best;
    const auto keeps_bound = [&](int l_cut) {
      const TriangularFit fit = fit_for(l_cut);
      if (fit.residual() > spec_.error) {
        if (!best.candidate.is_found) best.candidate.error = fit.residual();
        return false;
      }
      best.candidate.is_found = true;
      best.candidate.l_cut = l_cut;
      best.candidate.error = fit.residual();
      best.coefficient = fit.solution();
      return true;
    };
    std::size_t n_blocks = fits_.size() - 1;
    while (n_blocks > 0 && !keeps_bound(border_of(n_blocks))) --n_blocks;
    if (n_blocks == 0 && !keeps_bound(weights_.lmax - 1)) return best;
    if (best.candidate.l_cut < 0) return best;
    // Part of the next block.
    int fails = n_blocks == top + 1 ? -1 : blocks()[top - n_blocks].first - 1;
    int keeps = best.candidate.l_cut;
    while (keeps - fails > 1) {
      const int middle = fails + (keeps - fails) / 2;
      (keeps_bound(middle) ? keeps : fails) = middle;
    }
    return best;
  }

  const KernelSplitSpec& spec_;
  const SplitWeights& weights_;
  CapMultipoles multipoles_;
  std::vector<TriangularFit> fits_;  ///< [blocks below lmax in the fit]
};

}  // namespace

SplitWeights::SplitWeights(const KernelSplitSpec& spec)
    : lmax(static_cast<int>(ssize64(spec.k_l)) - 1),
      last(static_cast<int>(4 * spec.nside)),
      k_l(spec.k_l) {
  const std::size_t n = to_size(lmax) + 1;
  const auto spin = to_size(spec.spin);
  std::vector<double> cl = spec.cl.empty() ? std::vector<double>(n, 1.0) : spec.cl;
  // Fields of spin have no degrees below it.
  std::fill_n(k_l.begin(), spin, 0.0);
  std::fill_n(cl.begin(), spin, 0.0);
  std::vector<double> above(cl.begin() + static_cast<std::ptrdiff_t>(n), cl.end());
  above.resize(to_size(std::max(0, last - lmax)), 0.0);
  cl.resize(n);
  double power = 0;
  double of_white = 0;
  double mean = 0;
  for (std::size_t l = 0; l < n; ++l) {
    const double modes = 2 * static_cast<double>(l) + 1;
    power += modes * cl[l] * k_l[l] * k_l[l];
    of_white += modes * k_l[l] * k_l[l];
    mean += modes * cl[l] / static_cast<double>(n * n);
  }
  // For a map without power in high degrees the compact part would be unconstrained there, but
  // rings need a kernel with a band limit. So power above lmax counts at least as for white maps.
  const double white = power / of_white;
  const std::vector<double> aliased = aliased_spectrum(cl, spec.nside, last);
  std::vector<double> white_cl(n, white);
  std::fill_n(white_cl.begin(), spin, 0.0);
  const std::vector<double> aliased_white = aliased_spectrum(white_cl, spec.nside, last);
  for (std::size_t i = 0; i < aliased.size(); ++i)
    cl.push_back(
        std::max(aliased_margin * aliased_margin * aliased[i] + above[i], aliased_white[i]));
  for (std::size_t l = 0; l < cl.size(); ++l)
    weight.push_back(std::sqrt((2 * static_cast<double>(l) + 1) * cl[l] / power));
  k_l.resize(cl.size(), 0.0);
  beyond = std::sqrt(std::max(mean, white) / power);
}

CompactFit search_l_cut(const KernelSplitSpec& spec, const SplitWeights& weights,
                        double theta_cut) {
  CompactFit found = SupportSearch(spec, weights, theta_cut).run();
  found.candidate.theta_cut = theta_cut;
  return found;
}

}  // namespace ringweave::detail::inline convolve
