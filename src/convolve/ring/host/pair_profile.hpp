// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "convolve/ring/ring_pair.hpp"
#include "sphere/kernel/kernel_table.hpp"

namespace ringweave::detail::inline convolve {

/// A series for the kernel between two rings, in v = 2 phi^2 / half_width^2 - 1.
struct PairSeries {
  std::int64_t n_coefficients = 0;  ///< 0: no short series; use the table
  bool is_monomial = false;         ///< sum of c_k v^k; otherwise of c_k T_k(v)
};

/// Nodes and cosines for one length of series; the same for all kernels.
struct ProfileRule {
  std::int64_t n = 0;
  std::vector<double> x;        ///< [n] nodes in [0, 1], where phi^2 = x half_width^2
  std::vector<double> cosines;  ///< [n coefficients][n]
};

/// Returns the rules of all lengths, ascending.
std::vector<ProfileRule> profile_rules();

/// Returns the width of a kernel's narrowest bump or dip, in radians, from where it begins to rise
/// to where it has fallen (or the other way round); infinite without one.
/// threshold  smaller rises and falls do not count
/// Cost       two values of each piece of the table
double narrowest_bump(const KernelTable& kernel, double threshold);

/// Fits series to the kernel along the input ring.
class ProfileFitter {
 public:
  static constexpr std::int64_t most_coefficients = 48;

  /// tolerance  allowed error of a value
  /// narrowest  narrowest_bump() of the kernels it fits
  ProfileFitter(std::span<const ProfileRule> rules, double tolerance, double narrowest)
      : rules_(rules), tolerance_(tolerance), narrowest_(narrowest) {}

  /// Writes at most most_coefficients coefficients.
  PairSeries fit(const KernelTable& kernel, const RingPairChord& chord, double half_width,
                 double weight, double* coefficients);

 private:
  /// Returns true if a series has the kernel's values at phi = 0 and half_width, beyond the
  /// outermost nodes.
  bool holds_at_ends(const KernelTable& kernel, const RingPairChord& chord, double weight,
                     std::span<const double> coefficients) const;
  /// Converts coefficients of T_k into those of v^k where that loses no digits.
  bool to_monomials(std::int64_t n, double weight, double* coefficients);

  std::span<const ProfileRule> rules_;
  double tolerance_;
  double narrowest_;
  std::size_t last_ = 0;  ///< neighbouring pairs mostly need the same length
  std::array<double, most_coefficients> values_{};
};

}  // namespace ringweave::detail::inline convolve
