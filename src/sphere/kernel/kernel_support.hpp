// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>
#include <vector>

namespace ringweave {

/// Where a radial kernel is cut.
class KernelSupport {
 public:
  /// At a given angle, in radians, more than 0 and at most pi. A profile may end earlier.
  static KernelSupport angle(double theta_cut);
  /// Nowhere: the whole sphere, or the whole of a profile.
  static KernelSupport whole();
  /// What rounding leaves of any asked error.
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

/// UsageError unless cl is a spectrum: numbers of 0 or more, not all 0.
void require_spectrum(std::span<const double> cl);

}  // namespace ringweave
