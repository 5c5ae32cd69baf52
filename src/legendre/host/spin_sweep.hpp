// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>
#include <utility>

#include "legendre/host/sweep.hpp"
#include "legendre/shared/recurrence.hpp"
#include "legendre/shared/ring_tables.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline legendre {

/// Sums of one order of one field of spin s >= 1 with Wigner's d functions, on a range of ring
/// pairs. One object per thread.
///   Q + iU = - sum (E + iB) lambda_{+s},   Q - iU = - (-1)^s sum (E - iB) lambda_{-s}   (HEALPix)
class SpinSweep {
 public:
  /// The two components of a field: Q and U, or E and B.
  using Modes = std::pair<std::complex<double>, std::complex<double>>;

  SpinSweep(const PairTables& pairs, const PairIndex& places, int lmax);

  /// Prepares the recurrence of order m for the pairs [first_pair, end_pair); norm is lambda_hh /
  /// (-sin theta)^h for h = max(m, spin).
  void prepare(int m, int spin, std::int64_t first_pair, std::int64_t end_pair, double norm);

  /// Synthesis: set_alm (l = m..lmax), synthesize, then modes of any ring.
  template <class T>
  void set_alm(const std::complex<T>* e, const std::complex<T>* b);
  void synthesize();
  Modes modes(std::int64_t ring) const;

  /// Adjoint: clear, add_modes of rings, adjoint, then alm.
  void clear();
  void add_modes(std::int64_t ring, Modes modes);
  void adjoint();
  std::pair<const std::complex<double>*, const std::complex<double>*> alm();

  std::int64_t bytes() const;

 private:
  static constexpr sweep::Shape shape{sweep::Kind::spin, 1};

  const PairTables* pairs_;
  const PairIndex* places_;
  double parity_ = 1;  ///< (-1)^s
  double south_ = 1;   ///< sign of the southern sums at the first degree
  RecurrenceByOne recurrence_;
  sweep::Order order_{};
  sweep::Pairs swept_{};
  HostBuffer<double> columns_;
  HostBuffer<double> sums_;  ///< [sum][pair]
  HostBuffer<double> adjoint_scratch_;
  HostBuffer<std::complex<double>> rows_;
};

inline SpinSweep::Modes SpinSweep::modes(std::int64_t ring) const {
  const std::int64_t stride = pairs_->padded_size();
  const bool is_south = places_->is_south(ring);
  const double* sums = sums_.data() + (is_south ? 4 * stride : 0) + places_->pair(ring);
  const double half = is_south ? -0.5 * south_ : -0.5;
  const std::complex<double> plus(half * sums[0], half * sums[stride]);
  const std::complex<double> minus(half * parity_ * sums[2 * stride],
                                   half * parity_ * sums[3 * stride]);
  const std::complex<double> difference = plus - minus;
  return {plus + minus, {difference.imag(), -difference.real()}};
}

inline void SpinSweep::add_modes(std::int64_t ring, Modes modes) {
  const std::int64_t stride = pairs_->padded_size();
  const bool is_south = places_->is_south(ring);
  double* sums = sums_.data() + (is_south ? 4 * stride : 0) + places_->pair(ring);
  const double sign = is_south ? -south_ : -1;
  const std::complex<double> i_u(-modes.second.imag(), modes.second.real());
  const std::complex<double> plus = sign * (modes.first + i_u);
  const std::complex<double> minus = sign * parity_ * (modes.first - i_u);
  sums[0] += plus.real();
  sums[stride] += plus.imag();
  sums[2 * stride] += minus.real();
  sums[3 * stride] += minus.imag();
}

}  // namespace ringweave::detail::inline legendre
