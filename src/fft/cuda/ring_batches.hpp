// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "base/cuda/block_types.hpp"
#include "base/host_device.hpp"
#include "sphere/order_segments.hpp"

// Data read by the launches of a ring FFT: plain structs, computed on the host.
namespace ringweave::detail::gpu {

/// One owned ring. Tables are given by the index of their first factor (unit_power).
struct PlannedRing {
  std::int64_t ring;   ///< in the grid
  std::int64_t local;  ///< among the owned rings
  std::int64_t first_pixel;
  std::int64_t n_phi;
  std::int64_t n_complex;  ///< length of its complex FFT: n_phi / 2 for even n_phi, else n_phi
  std::int64_t n_modes;    ///< 1 + the highest order in the rows for this ring
  std::int64_t n_aliases;  ///< alias_count for n_modes
  std::int64_t phases;     ///< exp(i m phi0); -1: phi0 = 0
  std::int64_t roots;      ///< exp(i pi k / n_complex), k < n_complex
  std::int64_t chirp;      ///< index of its row among the chirps of its batch; -1: none
};

/// A length whose rings use a chirp transform.
struct ChirpLength {
  std::int64_t n_complex;
  std::int64_t roots;
};

/// Layout of the modes of all rings, and tables.
struct RingModeTables {
  const OrderSegments* orders;  ///< [m]
  const RowSegment* segments;
  const Double2* factors;  ///< of UnitPowers
  std::int64_t n_components;
};

/// Rings of a batch: row c * n_rings + i of the workspace is ring i, component c.
struct RingRows {
  const PlannedRing* rings;
  std::int64_t n_rings;
  std::int64_t row_length;  ///< in complex values
  Double2* rows;

  RINGWEAVE_HOST_DEVICE Double2* row(std::int64_t ring, std::int64_t component) const {
    return rows + (component * n_rings + ring) * row_length;
  }
};

}  // namespace ringweave::detail::gpu
