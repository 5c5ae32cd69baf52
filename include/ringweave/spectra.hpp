// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include <ringweave/alm.hpp>
#include <ringweave/fields.hpp>
#include <ringweave/views.hpp>

namespace ringweave {

/// Angular power spectra C_l, l = 0..lmax. A spectrum that was not given is empty and counts as
/// zero.
class Spectra {
 public:
  enum Name { TT, EE, BB, TE, EB, TB, n_names };
  static constexpr std::array<std::string_view, n_names> names{"TT", "EE", "BB", "TE", "EB", "TB"};

  explicit Spectra(int lmax) : lmax_(lmax) {}
  int lmax() const { return lmax_; }
  bool has(Name name) const { return !values_[name].empty(); }
  bool is_polarised() const { return has(EE) || has(BB) || has(TE); }
  /// C_l; 0 for a spectrum that is not there and beyond lmax.
  double operator()(Name name, int l) const {
    return has(name) && l <= lmax_ ? values_[name][static_cast<std::size_t>(l)] : 0.0;
  }
  /// lmax + 1 values, created as zeros at first use.
  std::span<double> values(Name name) {
    if (!has(name)) values_[name].assign(static_cast<std::size_t>(lmax_) + 1, 0.0);
    return values_[name];
  }
  std::span<const double> values(Name name) const { return values_[name]; }

 private:
  int lmax_;
  std::array<std::vector<double>, n_names> values_;
};

/// Real amplitudes b_l by which a radial kernel multiplies a_lm: t for spin 0, e and b for the
/// components of spin >= 1 fields. Zero beyond the tables.
struct Beam {
  std::vector<double> t;
  std::vector<double> e;
  std::vector<double> b;
};

/// Gaussian of the given full width at half maximum: t = exp(-l(l+1) sigma^2 / 2), e = b =
/// exp(-(l(l+1) - s^2) sigma^2 / 2) for spin s (2 gives healpy's extra exp(2 sigma^2)), 0 below l =
/// s.
Beam gaussian_beam(double fwhm_radians, int lmax, int spin = 2);
/// Elementwise product, to the longer table's length with zeros beyond the shorter.
Beam operator*(const Beam& a, const Beam& b);

/// a_lm *= b_l for every component. OpenMP over orders.
void multiply(const Beam& beam, const AlmLayout& layout, const FieldSet& fields,
              AlmView<double> alm);
void multiply(const Beam& beam, const AlmLayout& layout, const FieldSet& fields,
              AlmView<float> alm);

}  // namespace ringweave
