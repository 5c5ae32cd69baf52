// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>

#include "legendre/shared/sweep_tables.hpp"
#include "ringweave/grid.hpp"
#include "ringweave/views.hpp"
#include "sphere/mode_limits.hpp"

namespace ringweave::detail::inline legendre {

/// Tables over the ring pairs of a grid, read by the sweeps.
class PairTables {
 public:
  explicit PairTables(const RingGrid& grid);

  /// All pairs for two-degree steps; all or the last pairs for one-degree steps.
  sweep::Pairs by_two() const;
  sweep::Pairs by_one() const { return by_one_from(0); }
  sweep::Pairs by_one_from(std::int64_t first) const;
  std::int64_t count() const { return count_; }
  const double* z() const { return z_.data(); }  ///< [pair]
  std::int64_t padded_size() const { return padded_; }
  /// Returns the first of the pairs near the equator, where two-degree steps lose digits: even
  /// functions are differences of p there, which are z times smaller than p. A multiple of the
  /// vector length.
  std::int64_t first_equatorial(int lmax) const;
  std::int64_t bytes() const;

 private:
  std::int64_t count_;
  std::int64_t padded_;
  std::int64_t n_polar_ = 0;
  HostBuffer<double> log2_sin_high_;
  HostBuffer<double> log2_sin_low_;
  HostBuffer<double> z_;
  HostBuffer<double> z_squared_;
  HostBuffer<double> minus_sin_squared_;
  HostBuffer<double> z_minus_one_;
  HostBuffer<double> one_minus_z_;
  HostBuffer<double> one_plus_z_;
};

/// Index from a ring to its pair and half of the pair.
class PairIndex {
 public:
  explicit PairIndex(const RingGrid& grid);

  std::int64_t pair(std::int64_t ring) const { return pair_[ring]; }
  bool is_south(std::int64_t ring) const { return south_[ring]; }
  /// Returns the longest run of rings from `ring` on, ending at most at `end`, whose pairs are
  /// consecutive.
  sweep::RingRun run(std::int64_t ring, std::int64_t end) const {
    return {pair_[ring], std::min(run_end_[ring], end) - ring, south_[ring]};
  }
  /// Returns the pair nearest to the pole among those of consecutive rings.
  std::int64_t first_pair(RingRange rings) const;
  std::int64_t bytes() const;

 private:
  HostBuffer<std::int64_t> pair_;
  HostBuffer<bool> south_;
  HostBuffer<std::int64_t> run_end_;
};

/// Phases that add the orders of one alias class on the rings that fold, N = fold.period: e^{i k N
/// phi0} for k = 1 up to the turns of mmax.
class FoldPhases {
 public:
  FoldPhases(const RingGrid& grid, const FoldRule& fold, int mmax);

  /// Adds the mode of an order to that of its alias.
  void add(std::complex<double> mode, std::int64_t ring, const FoldRule::Alias& alias,
           std::complex<double>& target) const {
    std::complex<double> folded = mode * phase(alias.turns, ring);
    if (alias.mirrored) folded = std::conj(folded);
    // A ring FFT counts order 0 once and every other order twice, with its conjugate.
    target += alias.m0 == 0 ? std::complex<double>(2 * folded.real(), 0) : folded;
  }
  /// Applies the transpose: returns the mode of an order, given that of its alias.
  std::complex<double> repeat(std::complex<double> source, std::int64_t ring,
                              const FoldRule::Alias& alias) const {
    return (alias.mirrored ? std::conj(source) : source) * std::conj(phase(alias.turns, ring));
  }
  /// [turn - 1][ring of the rule]
  const HostBuffer<std::complex<double>>& table() const { return phases_; }
  std::int64_t bytes() const;

 private:
  std::complex<double> phase(std::int64_t turns, std::int64_t ring) const {
    return phases_[(turns - 1) * rings_.size() + ring - rings_.begin];
  }

  RingRange rings_;
  HostBuffer<std::complex<double>> phases_;
};

}  // namespace ringweave::detail::inline legendre
