// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "ringweave/views.hpp"

namespace ringweave::detail::inline legendre {

/// Rotates the a_lm of single degrees of real fields: turns them about z by psi, about y by theta,
/// about z by phi (the axes stay), a'_lm = sum over m' of exp(-i m phi) d^l_mm'(theta) exp(-i m'
/// psi) a_lm'. Thread safe; each thread needs its own Scratch.
///
/// A turn about y by theta is one about z between two quarter turns, so that with Delta =
/// d^l(pi/2)
///   d^l_mn(theta) = i^(m-n) sum over k of Delta_km exp(-i k theta) Delta_kn.
/// The symmetries of Delta leave an eighth of the matrix, which the recurrence in k gives for all n
/// at once, downwards from k = l, where it is stable. Its entries are not stored but computed for
/// each of both products. Those below the range of a double carry an extended exponent.
///
/// From   Trapani & Navaza (2006), Acta Cryst. A62, 262 (recurrence); Risbo (1996), J. Geodesy 70,
///        383 (two quarter turns)
class DegreeRotation {
 public:
  using Complex = std::complex<double>;

  /// Angles in radians, finite. Phases are computed in long double, since m psi loses digits.
  DegreeRotation(int lmax, long double psi, long double theta, long double phi);

  /// Memory of one thread.
  class Scratch {
   public:
    Scratch(int lmax, std::int64_t n_components);
    std::int64_t bytes() const;
    /// The a_lm of one degree, [component][m = 0..l].
    Complex* alm(std::int64_t component) { return alm_.data() + component * (lmax_ + 1); }

   private:
    friend DegreeRotation;
    int lmax_;
    std::int64_t n_components_;
    HostBuffer<Complex> alm_;
    HostBuffer<double> couplings_;          ///< [row]
    HostBuffer<double> ratios_;             ///< [row]
    HostBuffer<double> falls_;              ///< [n]
    HostBuffer<double> gains_;              ///< [row]
    HostBuffer<double> slopes_;             ///< [row]
    HostBuffer<double> seeds_;              ///< [column]
    HostBuffer<std::int32_t> seed_scales_;  ///< [block of columns]
    HostBuffer<std::int32_t> scales_;       ///< [block of columns]
    HostBuffer<double> columns_;            ///< [block of columns][quarter_turn::block_size]
    HostBuffer<double> row_values_;         ///< [row][map][2]
    HostBuffer<double> row_sums_;           ///< [row][map][2]
  };

  /// Rotates scratch.alm() of all components, 0 <= l <= lmax. The imaginary parts of m = 0 are not
  /// read and become 0. 8 multiply-adds for every pair m, m' >= 0 with m^2 + m'^2 < l^2 and m' <=
  /// m, with one component; 4 more for each further one.
  void rotate(int l, Scratch& scratch) const noexcept;

 private:
  struct Blocks;

  Blocks prepare(int l, Scratch& scratch) const noexcept;
  void apply_quarter_turn(const Blocks& blocks, std::int64_t first_component, int n_maps,
                          Scratch& scratch) const noexcept;

  std::vector<double> central_;        ///< [l] |Delta_l0|
  std::vector<Complex> first_phase_;   ///< [m] (-i)^m exp(-i m psi)
  std::vector<Complex> middle_phase_;  ///< [m] (-1)^m exp(-i m theta)
  std::vector<Complex> last_phase_;    ///< [m] (-i)^m exp(-i m phi)
};

/// Returns exp(-i m angle), with the product in long double.
std::complex<double> turn_phase(int m, long double angle);

}  // namespace ringweave::detail::inline legendre
