// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/host_device.hpp"
#include "legendre/cuda/plan/sweep_shapes.hpp"
#include "legendre/cuda/plan/sweep_types.hpp"
#include "sphere/row_position.hpp"

namespace ringweave::detail::gpu {

/// Position of the mode of a ring, its own or that of its alias.
struct ModePlace {
  std::int64_t position;  ///< -1: the order has no mode there
  bool folded;
};

RINGWEAVE_HOST_DEVICE ModePlace place_of(const ModeTables& tables, const OrderRow& row,
                                         std::int64_t ring) {
  if (ring < 0) return {-1, false};
  if (ring >= row.fold_begin && ring < row.fold_end) {
    return {position_in(tables.segments + row.target_segment, row.n_target_segments, ring), true};
  }
  return {position_in(tables.segments + row.own_segment, row.n_own_segments, ring), false};
}

/// Returns e^{i turns N phi0} of a ring that folds.
RINGWEAVE_HOST_DEVICE Double2 fold_phase(const ModeTables& tables, const OrderRow& row,
                                         std::int64_t ring) {
  const double* phase =
      tables.phases + 2 * ((row.turns - 1) * tables.n_phase_rings + ring - tables.phase_ring_begin);
  return {phase[0], phase[1]};
}

/// Writes a mode, or adds it to that of its alias (FoldPhases::add).
RINGWEAVE_HOST_DEVICE void put_mode(const ModeTables& tables, const OrderRow& row,
                                    std::int64_t ring, const ModePlace& place,
                                    std::int64_t component, Double2 mode, double* modes) {
  double* target = modes + 2 * (place.position * tables.n_components + component);
  if (!place.folded) {
    target[0] = mode.x;
    target[1] = mode.y;
    return;
  }
  const Double2 phase = fold_phase(tables, row, ring);
  const double re = mode.x * phase.x - mode.y * phase.y;
  const double im = mode.x * phase.y + mode.y * phase.x;
  if (row.m0 == 0) {
    // A ring FFT counts order 0 once and every other order twice, with its conjugate.
    target[0] += 2 * re;
    return;
  }
  target[0] += re;
  target[1] += row.mirrored != 0 ? -im : im;
}

/// Applies the transpose (FoldPhases::repeat).
RINGWEAVE_HOST_DEVICE Double2 get_mode(const ModeTables& tables, const OrderRow& row,
                                       std::int64_t ring, const ModePlace& place,
                                       std::int64_t component, const double* modes) {
  const double* source = modes + 2 * (place.position * tables.n_components + component);
  if (!place.folded) return {source[0], source[1]};
  const Double2 phase = fold_phase(tables, row, ring);
  const double re = source[0];
  const double im = row.mirrored != 0 ? -source[1] : source[1];
  return {re * phase.x + im * phase.y, im * phase.x - re * phase.y};
}

/// Components of a sweep and how they follow from its sums.
template <class S>
struct SweptComponents {
  Array<std::int32_t, S::components> component;
  Array<const double*, S::components>
      weight;         ///< [pair]; null: 1. Nothing is written where it is 0
  double parity = 1;  ///< spin: (-1)^s
};

/// Returns mode c of one half of a pair from the sums, which are `stride` apart.
template <class S>
RINGWEAVE_HOST_DEVICE Double2 mode_from(const double* sums, int stride, int c, double z,
                                        bool is_south) {
  const double* even = sums + 4 * c * stride;
  const double* odd = even + 2 * stride;
  if constexpr (S::by_one) {
    even = sums + 2 * c * stride;
    odd = even + S::columns * stride;
    z = 1;
  }
  const double factor = is_south ? -z : z;
  return {even[0] + factor * odd[0], even[stride] + factor * odd[stride]};
}

/// Applies the transpose: adds a mode to the sums.
template <class S>
RINGWEAVE_HOST_DEVICE void add_mode_to(double* sums, int stride, int c, double z, bool is_south,
                                       Double2 mode) {
  double* even = sums + 4 * c * stride;
  double* odd = even + 2 * stride;
  if constexpr (S::by_one) {
    even = sums + 2 * c * stride;
    odd = even + S::columns * stride;
    z = 1;
  }
  const double factor = is_south ? -z : z;
  even[0] += mode.x;
  even[stride] += mode.y;
  odd[0] += factor * mode.x;
  odd[stride] += factor * mode.y;
}

/// Q and U of one half of a pair, from the sums of a spin field (SpinSweep::modes).
struct BothModes {
  Double2 q;
  Double2 u;
};
RINGWEAVE_HOST_DEVICE BothModes spin_modes_from(const double* sums, int stride, double parity,
                                                double sign) {
  const double half = -0.5 * sign;
  const Double2 plus{half * sums[0], half * sums[stride]};
  const Double2 minus{half * parity * sums[2 * stride], half * parity * sums[3 * stride]};
  return {{plus.x + minus.x, plus.y + minus.y}, {plus.y - minus.y, minus.x - plus.x}};
}
RINGWEAVE_HOST_DEVICE void add_spin_modes_to(double* sums, int stride, double parity, double sign,
                                             const BothModes& modes) {
  sums[0] += -sign * (modes.q.x - modes.u.y);
  sums[stride] += -sign * (modes.q.y + modes.u.x);
  sums[2 * stride] += -sign * parity * (modes.q.x + modes.u.y);
  sums[3 * stride] += -sign * parity * (modes.q.y - modes.u.x);
}

}  // namespace ringweave::detail::gpu
