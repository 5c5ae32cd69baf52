// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "ringweave/views.hpp"

namespace ringweave::detail::inline legendre {

/// Expresses fields of spin s by scalar ones. With lambda^{s} = lambda_{+s} or lambda_{-s} of one
/// order m,
///   sin(theta) lambda^{s}_l = -+ (A_l lambda^{s-1}_{l+1} + C_l lambda^{s-1}_{l-1})
///                             + B_l lambda^{s-1}_l,
///   A_l = e_{l+1} u_l,   C_l = - e_l v_l,   B_l = m w_l,   e_l = sqrt((l^2 - m^2) / (4 l^2 - 1)),
/// so sin(theta)^s (Q, U) are two scalar fields with degrees up to lmax + s.
/// From   the Clebsch-Gordan series of d^l_{m s} d^1_{0 -1}, e.g. Varshalovich, Moskalev &
///        Khersonskii (1988), section 4.6
class SpinLadder {
 public:
  SpinLadder(int spin, int lmax);

  int spin() const { return spin_; }

  /// Work space of one thread, for any ladder up to (spin, lmax).
  class Scratch {
   public:
    Scratch(int spin, int lmax) : plus_(lmax + spin + 3), minus_(lmax + spin + 3) {}
    std::int64_t bytes() const { return 2 * plus_.size() * std::int64_t{sizeof(Complex)}; }

   private:
    friend class SpinLadder;
    using Complex = std::complex<double>;
    HostBuffer<Complex> plus_;
    HostBuffer<Complex> minus_;
  };

  /// Transforms E and B of order m, l = m..lmax, into the scalar a_lm q and u, l = m..lmax + spin.
  /// e_table[j] is e_{m+j}, up to j = lmax + spin + 1 - m.
  template <class T>
  void lower(int m, const double* e_table, const std::complex<T>* e, const std::complex<T>* b,
             std::complex<double>* q, std::complex<double>* u, Scratch& scratch) const;
  /// Applies the exact transpose; overwrites e and b.
  void raise(int m, const double* e_table, const std::complex<double>* q,
             const std::complex<double>* u, std::complex<double>* e, std::complex<double>* b,
             Scratch& scratch) const;

  std::int64_t bytes() const;

 private:
  /// Factors of one step, from spin s to s - 1; [l].
  struct Step {
    HostBuffer<double> u;
    HostBuffer<double> v;
    HostBuffer<double> w;
  };

  int spin_;
  int lmax_;
  std::vector<Step> steps_;  ///< [s - 1]
};

}  // namespace ringweave::detail::inline legendre
