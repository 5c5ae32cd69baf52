// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "base/cuda/block_types.hpp"
#include "base/host_device.hpp"
#include "sphere/mode_layout.hpp"

// What the launches of a ring FFT read: plain data made on the host.
namespace ringweave::gpu {

/// One owned ring. Tables are named by their first factor (unit_power).
struct PlannedRing {
  std::int64_t ring;   ///< of the grid
  std::int64_t local;  ///< among the owned ones
  std::int64_t first_pixel;
  std::int64_t n_phi;
  std::int64_t n_complex;  ///< of its complex FFT: n_phi / 2 where n_phi is even, else n_phi
  std::int64_t n_modes;    ///< 1 + the highest order the rows hold for it
  std::int64_t n_aliases;  ///< alias_count of them
  std::int64_t phases;     ///< exp(i m phi0); -1: phi0 = 0
  std::int64_t roots;      ///< exp(i pi k / n_complex), k < n_complex
  std::int64_t chirp;      ///< its row among the chirps of its batch; -1: it goes without
};

/// A length whose rings go by a chirp transform.
struct ChirpLength {
  std::int64_t n_complex;
  std::int64_t roots;
};

/// Where the segments of an order lie; orders without a row have none.
struct OrderSegments {
  std::int64_t first;
  std::int64_t count;
};

/// Where the modes of all rings lie, and tables.
struct RingModeTables {
  const OrderSegments* orders;  ///< [m]
  const RowSegment* segments;
  const Double2* factors;  ///< of UnitPowers
  std::int64_t n_components;
};

/// Some rings that go together: row c * n_rings + i of the workspace is ring i, component c.
struct RingRows {
  const PlannedRing* rings;
  std::int64_t n_rings;
  std::int64_t row_length;  ///< complex values of a row
  Double2* rows;

  RINGWEAVE_HOST_DEVICE Double2* row(std::int64_t ring, std::int64_t component) const {
    return rows + (component * n_rings + ring) * row_length;
  }
};

}  // namespace ringweave::gpu
