// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>
#include <vector>

#include "sphere/kernel/cap_polynomials.hpp"
#include "sphere/kernel/chord_nodes.hpp"
#include "sphere/kernel/kernel_table.hpp"
#include "sphere/kernel/legendre_sums.hpp"

namespace ringweave::detail::inline sphere {

/// A radial kernel before truncation.
class KernelShape {
 public:
  virtual ~KernelShape() = default;

  /// Returns the angle beyond which the kernel is 0; at most pi.
  virtual double end() const = 0;
  /// See RadialKernel.
  virtual double bound() const = 0;
  virtual int degree() const = 0;
  virtual std::vector<double> whole_multipoles(int lmax) const = 0;

  virtual KernelTable tabulate(double theta_cut) const = 0;
  /// Returns a quadrature for the truncated kernel times a polynomial of this degree in cos(theta).
  virtual ChordNodes nodes(double theta_cut, double polynomial_degree) const = 0;
  virtual std::vector<double> values(const ChordNodes& nodes) const = 0;
  /// Returns the angle beyond which the integral of the kernel's square is at most error^2 of the
  /// total.
  virtual double white_noise_angle(double error) const;

  /// Returns the spin of the fields it acts on.
  virtual int spin() const { return 0; }
  /// Returns whether it acts on their conjugates, so that d^l_s,-s is in the place of d^l_ss.
  virtual bool acts_on_conjugate() const { return false; }

  /// Returns K_l, l = 0..lmax, of the kernel truncated at an angle.
  std::vector<double> cut_multipoles(double theta_cut, int lmax) const;
};

/// The series sum_l (2l+1)/4pi K_l d^l_ss(theta), for spin 0 of Legendre polynomials; or, for the
/// conjugate of a field, of d^l_s,-s(theta), which is tabulated as it is.
class SeriesShape : public KernelShape {
 public:
  /// k_l  finite, not all 0 from the spin on
  explicit SeriesShape(std::vector<double> k_l, int spin = 0, bool acts_on_conjugate = false);

  double end() const override;
  double bound() const override { return bound_; }
  int degree() const override { return static_cast<int>(k_l_.size()) - 1; }
  std::vector<double> whole_multipoles(int lmax) const override;
  KernelTable tabulate(double theta_cut) const override;
  ChordNodes nodes(double theta_cut, double polynomial_degree) const override;
  std::vector<double> values(const ChordNodes& nodes) const override;
  int spin() const override { return spin_; }
  bool acts_on_conjugate() const override { return acts_on_conjugate_; }

 private:
  /// Returns the sums over l as they are tabulated: of d^l_ss without the factor cos(theta / 2)^2s.
  LegendreSeriesValues sums(std::span<const double> chord_squared) const;
  /// Returns half the width, as a chord, of a piece whose polynomial meets the table's error.
  double half_width(double theta_cut) const;

  std::vector<double> k_l_;
  std::vector<double> coefficient_;  ///< (2l+1)/4pi K_l
  double bound_ = 0;
  int spin_ = 0;
  bool acts_on_conjugate_ = false;
};

/// K_l = exp(-(l(l+1) - s^2) sigma^2 / 2), up to the degree beyond which terms are below rounding.
class GaussianShape : public SeriesShape {
 public:
  explicit GaussianShape(double sigma, int spin = 0);
  double white_noise_angle(double error) const override;

 private:
  double sigma_;
};

/// A table of values, interpolated by a monotone cubic.
class ProfileShape : public KernelShape {
 public:
  /// theta  ascending from 0, at least two, at most pi; value  finite, not all 0
  ProfileShape(std::vector<double> theta, std::vector<double> value);

  double end() const override { return theta_.back(); }
  double bound() const override { return bound_; }
  int degree() const override { return -1; }
  std::vector<double> whole_multipoles(int lmax) const override;
  KernelTable tabulate(double theta_cut) const override;
  ChordNodes nodes(double theta_cut, double polynomial_degree) const override;
  std::vector<double> values(const ChordNodes& nodes) const override;

 private:
  /// An interval between neighbouring points, or a part of one, that is in one half and short
  /// enough for one piece.
  struct Stretch {
    std::size_t interval = 0;
    double low = 0;  ///< chords
    double high = 0;
  };
  std::vector<Stretch> stretches(Half half, double theta_cut) const;
  void add_pieces(Half half, const std::vector<Stretch>& stretches, KernelTable& table) const;
  /// Evaluates the cubic of the interval that begins at a point, also outside the interval.
  double cubic(std::size_t interval, double theta) const;

  std::vector<double> theta_;
  std::vector<double> value_;
  std::vector<double> slope_;
  double bound_ = 0;
};

/// A sum of CapPolynomials on a cap, zero outside.
class CapShape : public KernelShape {
 public:
  /// coefficient  finite, not all 0
  CapShape(double theta_cut, std::vector<double> coefficient, int spin = 0);

  double end() const override { return polynomials_.theta_cut(); }
  double bound() const override { return bound_; }
  int degree() const override { return -1; }
  std::vector<double> whole_multipoles(int lmax) const override;
  KernelTable tabulate(double theta_cut) const override;
  ChordNodes nodes(double theta_cut, double polynomial_degree) const override;
  std::vector<double> values(const ChordNodes& nodes) const override;
  int spin() const override { return spin_; }

 private:
  double value(double u) const { return polynomials_.sum(coefficient_, u); }

  CapPolynomials polynomials_;
  std::vector<double> coefficient_;
  double bound_ = 0;
  int spin_ = 0;
};

/// Throws UsageError unless cl is a spectrum: numbers of 0 or more, not all 0.
void require_spectrum(std::span<const double> cl);

}  // namespace ringweave::detail::inline sphere
