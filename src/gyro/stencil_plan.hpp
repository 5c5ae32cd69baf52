// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "fft/plane_filter.hpp"
#include "gyro/interpolation.hpp"
#include "gyro/row_bands.hpp"
#include "gyro/side_sums.hpp"
#include "gyro/stencil_tables.hpp"
#include "ringweave/gyroaverage.hpp"

namespace ringweave::detail::inline gyro {

/// The axes of one filter, which one or several radii share.
struct StencilFilter {
  FilterAxis x;
  FilterAxis y;
  // Taps of longer offsets never act, but would on images of sources.
  std::int64_t most_x = 0;
  std::int64_t most_y = 0;
  std::int64_t first_row = 0;  ///< number of the held row that is the first of y
};

/// The plan by which one rank forms bilinear or bicubic averages of its rows, as plain data.
struct StencilPlan {
  /// A circle, and the largest offsets with a weight.
  struct Radius {
    GridCircle circle;
    std::int64_t reach_x = 0;
    std::int64_t reach_y = 0;
    std::int64_t filter = -1;  ///< -1: the identity, or nothing
    bool is_beyond = false;    ///< no circle about a node of the plane meets it
  };
  Interpolation interpolation = Interpolation::bilinear;
  std::int64_t n_x = 0;
  std::int64_t n_y = 0;
  std::int64_t halo = 0;  ///< rows that are held in addition to the own ones
  SideGeometry sides;
  std::vector<Radius> radii;  ///< of the specification
  std::vector<StencilFilter> filters;

  const HeldRows& rows() const { return sides.rows; }
  /// Returns how the multiplier of a radius is stored: symmetric where it has a filter and x and y
  /// are alike.
  MultiplierForm form_of(const Radius& radius) const;
  /// Bounds the bytes of the tables of a radius, not more than 20 % off.
  std::int64_t table_bytes(std::int64_t radius) const;
  /// Returns the held values that whole sources have; all where an axis does not end with zero. In
  /// rows and columns of a filter.
  FilterWindow whole_sources(std::int64_t first_row) const;
};

/// Plans the rows `own`. Radii share a filter where that costs less: a filter that is longer than a
/// radius needs takes longer, but one transform of a field serves all its radii. Not collective.
StencilPlan plan_stencil(const GyroSpec& spec, RowRange own);

}  // namespace ringweave::detail::inline gyro
