// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <ringweave/alm.hpp>
#include <ringweave/views.hpp>

namespace ringweave {

/// Angular power spectra C_l, l = 0..lmax. A spectrum that was not given is empty and counts as
/// zero. ET, BE and BT differ from TE, EB and TB in spectra of two skies, the first of which has
/// the first letter. P is the lensing potential phi, without unit (deflections are its gradient in
/// radians).
class Spectra {
 public:
  /// Names of spectra, by the letters of the two fields.
  enum Name { TT, EE, BB, TE, EB, TB, ET, BE, BT, PP, TP, EP, n_names };
  /// Texts of the names, [Name].
  static constexpr std::array<std::string_view, n_names> names{"TT", "EE", "BB", "TE", "EB", "TB",
                                                               "ET", "BE", "BT", "PP", "TP", "EP"};

  /// Makes spectra of degrees 0..lmax, of which none is given yet.
  explicit Spectra(int lmax) : lmax_(lmax) {}
  int lmax() const { return lmax_; }                                    ///< highest degree
  bool has(Name name) const { return !values_[name].empty(); }          ///< the spectrum was given
  bool is_polarised() const { return has(EE) || has(BB) || has(TE); }   ///< EE, BB or TE was given
  bool has_potential() const { return has(PP) || has(TP) || has(EP); }  ///< PP, TP or EP was given
  /// Returns C_l; 0 for a spectrum that is not there and beyond lmax.
  double operator()(Name name, int l) const {
    return has(name) && l <= lmax_ ? values_[name][static_cast<std::size_t>(l)] : 0.0;
  }
  /// Returns the values of a spectrum, lmax + 1 of them, created as zeros at first use.
  std::span<double> values(Name name) {
    if (!has(name)) values_[name].assign(static_cast<std::size_t>(lmax_) + 1, 0.0);
    return values_[name];
  }
  /// Returns the values of a spectrum; none if it is not there.
  std::span<const double> values(Name name) const { return values_[name]; }

 private:
  int lmax_;
  std::array<std::vector<double>, n_names> values_;
};

/// Real amplitudes b_l by which a radial kernel multiplies a_lm: t for spin 0, e and b for the
/// components of spin >= 1 fields. Zero beyond the tables.
struct Beam {
  std::vector<double> t;  ///< [l], of fields of spin 0
  std::vector<double> e;  ///< [l], of E
  std::vector<double> b;  ///< [l], of B
};

/// Returns the Gaussian of the given full width at half maximum, l = 0..lmax: t = exp(-l(l+1)
/// sigma^2 / 2), e = b = exp(-(l(l+1) - s^2) sigma^2 / 2) for spin s (2 gives healpy's extra exp(2
/// sigma^2)), 0 below l = s.
/// Error  UsageError when the width is not a number of 0 or more, or lmax or spin is negative.
Beam gaussian_beam(double fwhm_radians, int lmax, int spin = 2);
/// Returns the elementwise product, to the longer table's length with zeros beyond the shorter.
Beam operator*(const Beam& a, const Beam& b);

/// Multiplies a_lm by b_l in every component. OpenMP over orders; not collective.
/// alm    [component of `fields`][order of `layout`][l = m..lmax]
/// Error  UsageError when a_lm have another shape.
void multiply(const Beam& beam, const AlmLayout& layout, const FieldSet& fields,
              AlmView<double> alm);
/// Does the same with a_lm of floats.
void multiply(const Beam& beam, const AlmLayout& layout, const FieldSet& fields,
              AlmView<float> alm);

/// Draws Gaussian a_lm of the given spectra for the orders of `layout`. Every coefficient is drawn
/// from Philox keyed by (seed, field, l, m), so a realisation is the same on any number of ranks
/// and threads and its low degrees do not change with lmax. One component: T from TT. Three
/// components: T, E, B correlated by TT, EE, BB, TE, EB, TB (Cholesky per degree). Four: T, E, B as
/// before, and the lensing potential, which PP, TP and EP correlate with them. Two: E, B. E and B
/// begin at l = 2. OpenMP over orders; not collective.
/// alm    [component][order of `layout`][l = m..lmax]; overwritten
/// Error  UsageError for other numbers of components, or another number of coefficients than the
///        layout has; DataError when a covariance is not positive semidefinite, naming l.
///
/// From  Salmon, Moraes, Dror & Shaw (2011), Proc. SC11 (Philox)
void draw_alm(const Spectra& spectra, std::uint64_t seed, const AlmLayout& layout,
              AlmView<double> alm);
/// Does the same with a_lm of floats.
void draw_alm(const Spectra& spectra, std::uint64_t seed, const AlmLayout& layout,
              AlmView<float> alm);

/// Two standard normal numbers, for the real and imaginary part of a coefficient.
struct NormalPair {
  double re;  ///< for the real part
  double im;  ///< for the imaginary part
};
/// Returns the two standard normal numbers of one (seed, field, l, m); the imaginary part of m = 0
/// is not used.
NormalPair normal_pair(std::uint64_t seed, std::uint32_t field, int l, int m);

/// Returns the standard normal number of a pixel of one (seed, component), for white noise. It does
/// not depend on those of normal_pair().
/// pixel  its number in the full grid, in RING order
double pixel_normal(std::uint64_t seed, std::uint32_t component, std::int64_t pixel);

}  // namespace ringweave
