// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <span>
#include <vector>

namespace ringweave::detail::inline sphere {
class KernelShape;
struct KernelTable;
}  // namespace ringweave::detail::inline sphere

namespace ringweave {

/// Where a radial kernel is cut.
class KernelSupport {
 public:
  /// At a given angle, in radians, more than 0 and at most pi. A profile may end earlier.
  static KernelSupport angle(double theta_cut);
  /// Nowhere: the whole sphere, or the whole of a profile.
  static KernelSupport whole();
  /// The smallest error that may be asked for; rounding allows no less.
  static constexpr double least_error = 1e-13;
  /// At the smallest angle at which cutting changes the convolution of white noise by no more than
  /// `error` (least_error <= error < 1) of its rms. Values of K that are rounding (below 1e-14 of
  /// its bound) are no part of the kernel.
  static KernelSupport automatic(double error);
  /// The same for maps of spectrum cl, l = 0..lmax.
  static KernelSupport automatic(double error, std::span<const double> cl);

  bool is_automatic() const { return error_ > 0; }
  double theta_cut() const { return theta_cut_; }
  double error() const { return error_; }
  std::span<const double> cl() const { return cl_; }  ///< empty: white noise

 private:
  double theta_cut_ = 0;
  double error_ = 0;
  std::vector<double> cl_;
};

/// Error that cutting a kernel at its support adds to the convolution of a map of spectrum C_l: the
/// expectation over maps, by Eq. 7 of Elsner & Wandelt (2011).
struct KernelTruncation {
  double rms = 0;       ///< of the error, in the map's unit times the kernel's gain
  double relative = 0;  ///< over the rms of the map convolved with the whole kernel
};

/// K(theta) per steradian, zero beyond its support: convolved(n) = int K(angle(n, n')) map(n') dn'.
/// It multiplies a_lm by K_l = 2 pi int K(theta) P_l(cos theta) sin(theta) dtheta. Copies share
/// their data.
///
/// A kernel of spin s > 0 acts on fields of that spin, carried to n along the great circle from n':
/// the integrand has the factor exp(i s gamma), gamma the angle between their directions after
/// that. K_l = 2 pi int K(theta) d^l_ss(theta) sin(theta) dtheta multiplies E and B.
class RadialKernel {
 public:
  /// Largest spin of a kernel.
  static constexpr int most_spin = 3;

  /// K_l = exp(-(l(l+1) - s^2) sigma^2 / 2), the whole series.
  /// fwhm   radians, more than 0
  /// Cost   a few ms for 5 arcmin; grows like 1 / fwhm.
  static RadialKernel gaussian(double fwhm, const KernelSupport& support, int spin = 0);

  /// K_l = b_l, l = s..lmax, zero beyond: K(theta) = sum_l (2l+1)/4pi b_l d^l_ss(theta), for spin 0
  /// of P_l(cos theta).
  static RadialKernel from_beam(std::span<const double> b_l, const KernelSupport& support,
                                int spin = 0);

  /// Between its points a monotone cubic, beyond the last one zero: a value other than 0 there is a
  /// hard edge, kept as it is.
  ///
  /// theta  radians, ascending from 0, at least two points, at most pi
  /// value  K(theta) per steradian
  /// From   Fritsch & Butland (1984), SIAM J. Sci. Stat. Comput. 5, 300
  static RadialKernel from_profile(std::span<const double> theta, std::span<const double> value,
                                   const KernelSupport& support);

  /// K(theta) = sum_k coefficient[k] p_k, the CapPolynomials of a cap, zero beyond its edge.
  static RadialKernel on_cap(double theta_cut, std::span<const double> coefficient, int spin = 0);

  /// Radians, more than 0, at most pi. Pixels at this very distance belong to the kernel.
  double support() const;
  /// 0 beyond the support.
  double at(double theta) const;
  int spin() const;
  /// For Ringweave's own sums. A kernel of spin s is tabulated as K(theta) / cos(theta / 2)^2s.
  const detail::KernelTable& table() const;

  /// Upper bound of |K(theta)|: sum_l (2l+1)/4pi |K_l|, l >= s, or the profile's largest value.
  /// K(0) where no K_l is negative. Errors of values are relative to it.
  double bound() const;
  /// The degree beyond which all K_l of the whole kernel vanish; -1 for a profile and on a
  /// cap.
  int degree() const;

  /// K_l, l = 0..lmax, of the kernel as cut at its support.
  std::vector<double> multipoles(int lmax) const;
  /// K_l, l = 0..lmax, of the kernel as given.
  std::vector<double> whole_multipoles(int lmax) const;
  /// The part of sum_l (2l+1) K_l^2 of the kernel as given that lies above lmax, 0 to 1.
  double power_beyond(int lmax) const;
  /// cl  C_l of the maps, l = 0..lmax; degrees beyond count as zero
  KernelTruncation truncation(std::span<const double> cl) const;

 private:
  struct Data;
  RadialKernel(std::shared_ptr<const detail::KernelShape> shape, const KernelSupport& support);

  std::shared_ptr<const Data> data_;
};

}  // namespace ringweave
