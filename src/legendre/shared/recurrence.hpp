// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <vector>

#include "base/checked_cast.hpp"
#include "legendre/shared/recurrence_lanes.hpp"
#include "legendre/shared/sweep_tables.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline legendre {

/// Orders up to this one have coefficients computed in long double and rounded once. e tends to 1/2
/// so smoothly that its rounding errors do not average out, and near the poles they grow with the
/// square of the degree (m = 0, l = 8192, theta = 1e-4: 9e-10 with coefficients computed in double,
/// 5e-12 with these).
inline constexpr int highest_precise_order = 32;

/// Recurrence of scalar fields for one order, two degrees per step. With e_j = sqrt(((m+j)^2 - m^2)
/// / (4 (m+j)^2 - 1)),
///   lambda_{m+2k+1} = z alpha_k p_k,
///   lambda_{m+2k} = e_{2k+1} alpha_k p_k + e_{2k} alpha_{k-1} p_{k-1},
///   p_{k+1} = a_k (z^2 - e_{2k+1}^2 - e_{2k+2}^2) p_k + p_{k-1},   p_0 = lambda_mm.
/// From   Ishioka (2018), J. Meteor. Soc. Japan 96, doi:10.2151/jmsj.2018-019
class RecurrenceByTwo {
 public:
  /// Work space of prepare().
  class Scratch {
   public:
    explicit Scratch(int lmax);
    std::int64_t bytes() const;

   private:
    friend RecurrenceByTwo;
    HostBuffer<double> products_;  ///< [k]
    HostBuffer<double> ratios_;    ///< [k]
  };

  /// Allocates for the orders lowest_order..lmax; prepare() allocates nothing.
  explicit RecurrenceByTwo(int lmax, int lowest_order = 0);
  void prepare(int m, Scratch& scratch);

  std::int64_t n_steps() const { return n_steps_; }  ///< whole chunks
  const double* coefficients() const { return coefficients_.data(); }
  const double* e() const { return e_.data(); }          ///< [j]
  const double* alpha() const { return alpha_.data(); }  ///< [k]

  /// Transforms a_lm, l = m.. (missing ones up to lmax are zero) into the four columns of one map,
  /// which begin at `columns` with a stride of `stride` per step.
  template <class T>
  void precondition(std::span<const std::complex<T>> alm, double* columns,
                    std::int64_t stride) const {
    sweep::precondition_by_two(factors(), alm.data(), ssize64(alm), columns, stride);
  }
  /// Applies the transpose of precondition; overwrites alm.
  void restore(const double* columns, std::int64_t stride,
               std::span<std::complex<double>> alm) const {
    sweep::restore_by_two(factors(), columns, stride, alm.data(), ssize64(alm));
  }

  std::int64_t bytes() const;

 private:
  void prepare_precisely();
  void prepare_fast(Scratch& scratch);
  sweep::FactorsByTwo factors() const { return {e_.data(), alpha_.data(), n_steps_}; }

  int lmax_;
  int m_ = 0;
  std::int64_t n_steps_ = 0;
  HostBuffer<double> e_;             ///< [j]
  HostBuffer<double> alpha_;         ///< [k]
  HostBuffer<double> coefficients_;  ///< [k][a, g from the equator, g from the pole]
};

/// Recurrence of fields of any spin s >= 0 for one order, one degree per step: lambda_{+s} and
/// lambda_{-s} = gain_l p_l from l = max(m, s),
///   p_{l+1} = a_l (z +- m s / (l (l + 1))) p_l + p_{l-1}.
/// From   the three-term relation of Wigner's d functions in l, e.g. Kostelec & Rockmore (2008),
///        doi:10.1007/s00041-008-9013-5
class RecurrenceByOne {
 public:
  explicit RecurrenceByOne(int lmax);
  void prepare(int m, int spin);
  /// Prepares spin 0 from the e_j of RecurrenceByTwo for the same order.
  void prepare_scalar(int m, const double* e);

  std::int64_t n_steps() const { return n_steps_; }  ///< whole chunks; 0 when lmax < max(m, spin)
  const double* coefficients() const { return coefficients_.data(); }

  /// Transforms a scalar field's a_lm, l = m.. (missing ones up to lmax are zero) into the two
  /// columns of one map, with a stride of `stride` per step.
  template <class T>
  void precondition(std::span<const std::complex<T>> alm, double* columns,
                    std::int64_t stride) const;
  /// Applies the transpose of the scalar precondition; adds to alm.
  void restore_add(const double* columns, std::int64_t stride,
                   std::span<std::complex<double>> alm) const;

  /// Transforms E and B, l = m..lmax, into the four columns [step][column].
  template <class T>
  void precondition(const std::complex<T>* e, const std::complex<T>* b, double* columns) const;
  /// Applies the transpose; overwrites e and b, with zeros below the spin.
  void restore(const double* columns, std::complex<double>* e, std::complex<double>* b) const;

  std::int64_t bytes() const;

 private:
  void begin(int m, int spin);
  void prepare_precisely(int spin);
  void prepare_fast(int spin);
  void prepare_gain(const double* e);

  int lmax_;
  int m_ = 0;
  int first_degree_ = 0;
  std::int64_t n_steps_ = 0;
  HostBuffer<double> numerators_;
  HostBuffer<double> denominators_;
  HostBuffer<double>
      e_;  ///< of z lambda_l = e_{l+1} lambda_{l+1} + e_l lambda_{l-1} -+ ..., [l - first]
  HostBuffer<double> a_;     ///< [l - first]
  HostBuffer<double> gain_;  ///< [l - first]
  HostBuffer<double>
      coefficients_;  ///< [step][a, g+ and g- from the equator, g+ and g- from the pole]
};

constexpr double sign_of(int power) { return power % 2 == 0 ? 1 : -1; }

/// Returns the first values of both functions of a spin field at l = max(m, spin); norm is
/// lambda_ll / (-sin theta)^l.
sweep::Seed spin_seed(int m, int spin, double norm);
/// Returns lambda_mm / (-sin theta)^m for m = 0..mmax.
std::vector<double> sectoral_norms(int mmax);

}  // namespace ringweave::detail::inline legendre
