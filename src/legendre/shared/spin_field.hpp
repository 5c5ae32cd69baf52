// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "legendre/shared/spin_ladder.hpp"
#include "ringweave/alm.hpp"
#include "ringweave/grid.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline legendre {

/// Chooses how a field of spin s >= 1 is computed: as two scalar fields times sin(theta)^-s where
/// that keeps the digits, with Wigner's d functions on the pairs near the poles. Both sums run over
/// all pairs; the scalar weights are 0 where Wigner's functions are used.
class SpinField {
 public:
  SpinField(const FieldSet::Field& field, const RingGrid& grid, int lmax);

  int spin() const { return ladder_.spin(); }
  std::int64_t first_component() const { return first_component_; }
  /// Returns how many pairs, counted from the pole, use Wigner's d functions.
  std::int64_t n_wigner_pairs() const { return n_wigner_pairs_; }
  /// Returns whether other pairs exist.
  bool laddered() const { return n_wigner_pairs_ < n_pairs_; }
  const SpinLadder& ladder() const { return ladder_; }
  const double* weights() const { return weights_.data(); }  ///< [pair]

  std::int64_t bytes() const;

 private:
  std::int64_t first_component_;
  std::int64_t n_pairs_;
  std::int64_t n_wigner_pairs_ = 0;
  SpinLadder ladder_;
  HostBuffer<double> weights_;
};

}  // namespace ringweave::detail::inline legendre
