// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>

#include "base/buffer.hpp"
#include "legendre/host/sweep.hpp"
#include "legendre/legendre_stage.hpp"

namespace ringweave {

/// Scalar fields, one order: lambda_lm by two degrees per step. With e_j = sqrt(((m+j)^2 - m^2) / (4 (m+j)^2 - 1)),
///   lambda_{m+2k+1} = z alpha_k p_k,   lambda_{m+2k} = e_{2k+1} alpha_k p_k + e_{2k} alpha_{k-1} p_{k-1},
///   p_{k+1} = a_k (z^2 - e_{2k+1}^2 - e_{2k+2}^2) p_k + p_{k-1},   p_0 = lambda_mm.
/// From   Ishioka (2018), J. Meteor. Soc. Japan 96, doi:10.2151/jmsj.2018-019
class ScalarRecurrence {
 public:
  /// Buffers for every order up to lmax; prepare() allocates nothing.
  explicit ScalarRecurrence(int lmax);
  void prepare(int m);

  std::int64_t n_steps() const { return n_steps_; }  ///< whole chunks
  const double* coefficients() const { return coefficients_.data(); }

  /// a_lm, l = m..lmax -> the four columns of one map, which begin at `columns` and are `stride` apart per step.
  template <class T>
  void precondition(const std::complex<T>* alm, double* columns, std::int64_t stride) const;
  /// Its transpose.
  template <class T>
  void restore(const double* columns, std::int64_t stride, std::complex<T>* alm, LegendreStage::Accumulate how) const;

  std::int64_t bytes() const;

 private:
  int lmax_;
  int m_ = 0;
  std::int64_t n_steps_ = 0;
  HostBuffer<double> numerators_;    ///< [j], then scratch
  HostBuffer<double> denominators_;  ///< [j]
  HostBuffer<double> e_;             ///< [j]
  HostBuffer<double> alpha_;         ///< [k]
  HostBuffer<double> coefficients_;  ///< [k][a, g from the equator, g from the pole]
};

/// Fields of spin s >= 1, one order, one degree per step: lambda_{+s} and lambda_{-s} = gain_l p_l from l = max(m, s),
///   p_{l+1} = a_l (z +- m s / (l (l + 1))) p_l + p_{l-1}.
/// From   the three-term relation of Wigner's d functions in l, e.g. Kostelec & Rockmore (2008),
///        doi:10.1007/s00041-008-9013-5
class SpinRecurrence {
 public:
  explicit SpinRecurrence(int lmax);
  void prepare(int m, int spin);

  std::int64_t n_steps() const { return n_steps_; }  ///< whole chunks; 0 when lmax < max(m, spin)
  const double* coefficients() const { return coefficients_.data(); }

  /// E and B, l = m..lmax -> the four columns [step][column].
  template <class T>
  void precondition(const std::complex<T>* e, const std::complex<T>* b, double* columns) const;
  /// Its transpose. Degrees below the spin get zero.
  template <class T>
  void restore(const double* columns, std::complex<T>* e, std::complex<T>* b, LegendreStage::Accumulate how) const;

  std::int64_t bytes() const;

 private:
  int lmax_;
  int m_ = 0;
  int first_degree_ = 0;
  std::int64_t n_steps_ = 0;
  HostBuffer<double> numerators_;
  HostBuffer<double> denominators_;
  HostBuffer<double> a_;             ///< A_l of lambda_l z = A_{l+1} lambda_{l+1} + A_l lambda_{l-1} + ..., [l - first]
  HostBuffer<double> gain_;          ///< [l - first]
  HostBuffer<double> coefficients_;  ///< [step][a, g+ and g- from the equator, g+ and g- from the pole]
};

}  // namespace ringweave
