// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "ringweave/grid.hpp"

namespace ringweave::detail::inline sphere {

/// Rules which (order, ring) modes are kept. lambda_lm is below 1e-15 for
///   m > t = lmax sin(theta) + 8 + 11 (lmax sin(theta) cos(theta)^2)^(1/3)
/// (spin s: for m with m^2 - 2 m s |cos(theta)| + s^2 > t^2), so these modes are neither computed
/// nor sent. The rings that keep an order are consecutive. The limits are the same on every rank
/// and take 4 bytes per ring and 16 per order.
///
/// Beyond its turning point lambda_lm falls like Airy's function, exp(-(8/9)^(1/2) d^(3/2) / (lmax
/// sin(theta) cos(theta)^2)^(1/2)) at t + d, which reaches 1e-15 at 11.0 cube roots; next to a pole
/// it falls like Bessel's, (lmax sin(theta) / 2)^m / m!, for which 8 orders suffice. Computed
/// values need at most 10.5 cube roots (lmax 16 to 32768). The usual max(100, lmax / 100) leaves
/// 1e-7 at lmax = 10000.
class ModeLimits {
 public:
  ModeLimits(const RingGrid& grid, int lmax, int mmax, int max_spin);
  /// Returns the limits of rings which are some of `n_rows` rows pi (r + 1/2) / n_rows and whose
  /// modes are deconvolved for an interpolation between these rows. That sharpens modes where they
  /// begin, so a row keeps the orders of a ring four rows nearer to the equator. Modes left out are
  /// below 1e-13 of the rms, or below 3e-15 times the factor of the highest degree if that is more
  /// (4 to 16 taps, 1.25 or more rows per degree). With two rows they would be 2e-10 at 16 taps and
  /// 1.35; every row adds about 0.3 % to the modes.
  static ModeLimits of_fine_rows(const RingGrid& grid, std::int64_t n_rows, int lmax, int mmax,
                                 int max_spin);

  int lmax() const { return lmax_; }
  int mmax() const { return mmax_; }
  std::int64_t n_rings() const { return static_cast<std::int64_t>(m_limit_.size()); }
  /// Returns the highest order kept on a ring, at most mmax.
  int m_limit(RingId ring) const { return m_limit_[static_cast<std::size_t>(ring)]; }
  /// Returns the rings that keep order m; may be empty.
  RingRange kept(int m) const { return kept_[static_cast<std::size_t>(m)]; }

 private:
  /// m_limit  [ring]
  ModeLimits(std::vector<int> m_limit, int lmax, int mmax);

  int lmax_;
  int mmax_;
  std::vector<int> m_limit_;
  std::vector<RingRange> kept_;
};

/// Rule for aliases. On a ring of n pixels the orders m, n - m, n + m, 2 n - m, ... are
/// indistinguishable. For the largest set of consecutive rings of equal length (HEALPix: the
/// equatorial belt, n = 4 nside) the orders of one alias class are assigned to one rank and summed
/// there before the exchange; the modes of other rings are summed after it.
struct FoldRule {
  std::int64_t period = 0;  ///< pixels of the rings folded before sending; 0: none are
  RingRange rings;          ///< the rings folded before sending

  /// Returns the rule for a grid; nothing is folded if mmax <= period / 2.
  static FoldRule for_grid(const RingGrid& grid, int mmax);
  bool active() const { return period > 0; }

  /// m = turns * period + m0 (mirrored: turns * period - m0), with 0 <= m0 <= period / 2.
  struct Alias {
    int m0;
    std::int64_t turns;
    bool mirrored;
  };
  Alias alias(int m) const;
};

}  // namespace ringweave::detail::inline sphere
