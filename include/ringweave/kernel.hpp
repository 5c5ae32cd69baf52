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

/// Support of a radial kernel: the angle at which it is cut.
class KernelSupport {
 public:
  /// Cuts at a given angle, in radians. A profile may end earlier.
  /// Error  UsageError unless it is more than 0 and at most pi.
  static KernelSupport angle(double theta_cut);
  /// Keeps the whole sphere, or the whole of a profile.
  static KernelSupport whole();
  /// Smallest error that may be asked for; rounding allows no less.
  static constexpr double least_error = 1e-13;
  /// Cuts at the smallest angle at which cutting changes the convolution of white noise by no more
  /// than `error` of its rms. Values of K that are rounding (below 1e-14 of its bound) are no part
  /// of the kernel.
  /// Error  UsageError unless least_error <= error < 1.
  static KernelSupport automatic(double error);
  /// Cuts so for maps of spectrum cl, l = 0..lmax.
  /// Error  UsageError also when a C_l is negative or not finite, or all are 0.
  static KernelSupport automatic(double error, std::span<const double> cl);

  bool is_automatic() const { return error_ > 0; }  ///< the angle follows from error()
  double theta_cut() const { return theta_cut_; }   ///< radians; 0: automatic
  double error() const { return error_; }           ///< of the cut, relative rms; 0: a given angle
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

/// Radial kernel K(theta) per steradian, zero beyond its support: convolved(n) = int K(angle(n,
/// n')) map(n') dn'. It multiplies a_lm by K_l = 2 pi int K(theta) P_l(cos theta) sin(theta)
/// dtheta. Copies share their data. Not collective.
///
/// A kernel of spin s > 0 acts on fields of that spin, carried to n along the great circle from n':
/// the integrand has the factor exp(i s gamma), gamma the angle between their directions after
/// that. K_l = 2 pi int K(theta) d^l_ss(theta) sin(theta) dtheta multiplies E and B.
///
/// Error  of kernels with a support for maps of a spectrum: UsageError when that has no power where
///        the kernel has any.
class RadialKernel {
 public:
  /// Largest spin of a kernel.
  static constexpr int most_spin = 3;

  /// Makes the kernel of K_l = exp(-(l(l+1) - s^2) sigma^2 / 2), the whole series.
  /// fwhm   radians, more than 0
  /// Cost   a few ms for 5 arcmin; grows like 1 / fwhm.
  /// Error  UsageError for another fwhm, one so small that the series has more than 2^22 degrees, a
  ///        spin beyond 0 to most_spin, or a support too wide for a table of this kernel.
  static RadialKernel gaussian(double fwhm, const KernelSupport& support, int spin = 0);

  /// Makes the kernel of K_l = b_l, l = s..lmax, zero beyond: K(theta) = sum_l (2l+1)/4pi b_l
  /// d^l_ss(theta), for spin 0 of P_l(cos theta).
  /// Error  UsageError when a b_l is not finite, or all are 0 from l = s on, for a spin beyond 0 to
  ///        most_spin, or a support too wide for a table of this kernel.
  static RadialKernel from_beam(std::span<const double> b_l, const KernelSupport& support,
                                int spin = 0);

  /// Makes the kernel of the conjugate of a field of spin s: the integrand has K(theta) exp(i s
  /// gamma') and the conjugate of the field, gamma' the angle between the directions of both as
  /// mirror images, and K(theta) = (-1)^s sum_l (2l+1)/4pi b_l d^l_s,-s(theta). With it E and B are
  /// multiplied by factors of their own, b^E and b^B: those of the field's kernel are
  /// (b^E + b^B) / 2, those of its conjugate's (b^E - b^B) / 2
  /// (RingConvolutionSpec::conjugate_kernels).
  /// spin   1 to most_spin
  /// Error  as of from_beam().
  static RadialKernel of_conjugate(std::span<const double> b_l, const KernelSupport& support,
                                   int spin);

  /// Makes the kernel of a table. Between its points it is a monotone cubic, beyond the last one
  /// zero: a value other than 0 there is a hard edge, kept as it is.
  ///
  /// theta  radians, ascending from 0, two to 2^24 points, at most pi
  /// value  K(theta) per steradian, one for each point
  /// Error  UsageError for other angles, and when a value is not finite or all are 0.
  /// From   Fritsch & Butland (1984), SIAM J. Sci. Stat. Comput. 5, 300
  static RadialKernel from_profile(std::span<const double> theta, std::span<const double> value,
                                   const KernelSupport& support);

  /// Makes the kernel K(theta) = sum_k coefficient[k] p_k, the CapPolynomials of a cap, zero beyond
  /// its edge.
  /// theta_cut  radians, more than 0, at most 1.5
  /// spin       of the fields, 0 to most_spin
  /// Error      UsageError for another theta_cut or spin, and when a coefficient is not finite or
  ///            all are 0.
  static RadialKernel on_cap(double theta_cut, std::span<const double> coefficient, int spin = 0);

  /// Returns the support in radians, more than 0, at most pi. Pixels at this very distance belong
  /// to the kernel.
  double support() const;
  /// Returns K(theta) per steradian, theta in radians; 0 beyond the support.
  double at(double theta) const;
  int spin() const;                ///< of the fields
  bool acts_on_conjugate() const;  ///< tells whether of_conjugate() made it
  /// Returns the table, for Ringweave's own sums. A kernel of spin s is tabulated as K(theta) /
  /// cos(theta / 2)^2s, that of a conjugate as K(theta).
  const detail::KernelTable& table() const;

  /// Returns an upper bound of |K(theta)|: sum_l (2l+1)/4pi |K_l|, l >= s, or the profile's largest
  /// value. K(0) where no K_l is negative. Errors of values are relative to it.
  double bound() const;
  /// Returns the degree beyond which all K_l of the whole kernel vanish; -1 for a profile and on a
  /// cap.
  int degree() const;

  /// Returns K_l, l = 0..lmax, of the kernel as cut at its support. Here and below lmax >= 0.
  std::vector<double> multipoles(int lmax) const;
  /// Returns K_l, l = 0..lmax, of the kernel as given.
  std::vector<double> whole_multipoles(int lmax) const;
  /// Returns the part of sum_l (2l+1) K_l^2 of the kernel as given that lies above lmax, 0 to 1.
  double power_beyond(int lmax) const;
  /// Returns the error of cutting the kernel at its support.
  /// cl  C_l of the maps, l = 0..lmax; degrees beyond count as zero
  /// Error  UsageError when a C_l is negative or not finite, or the maps have no power where the
  ///        kernel has any.
  KernelTruncation truncation(std::span<const double> cl) const;

 private:
  struct Data;
  RadialKernel(std::shared_ptr<const detail::KernelShape> shape, const KernelSupport& support);

  std::shared_ptr<const Data> data_;
};

}  // namespace ringweave
