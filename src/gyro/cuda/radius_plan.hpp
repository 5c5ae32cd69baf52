// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/host_device.hpp"
#include "gyro/arc_moments.hpp"
#include "gyro/interpolation.hpp"
#include "ringweave/gyroaverage.hpp"

namespace ringweave::detail::gpu {

/// The nodes of an axis in the derivative at each of them, and back.
struct DerivativeTaps {
  struct Tap {
    std::int64_t node = 0;
    double weight = 0;
  };
  static constexpr std::int64_t of_node = 5;

  std::vector<Tap> taps;        ///< [node][of_node]
  std::vector<Tap> transposed;  ///< [begin[node] .. begin[node + 1]) derivatives a node is part of
  std::vector<std::int64_t> begin;
};

/// A grid and the circles about the nodes of some of its rows, as launches see them.
struct RadiusGrid {
  std::int64_t n_x = 0;
  std::int64_t n_y = 0;
  PlaneBoundary x_boundary = PlaneBoundary::zero;
  PlaneBoundary y_boundary = PlaneBoundary::zero;
  double spacing_x = 0;
  double spacing_y = 0;
  CellBox box;
  std::int64_t cells_x = 0;  ///< that are no images of others
  std::int64_t cells_y = 0;
  std::int64_t row_begin = 0;
  std::int64_t row_end = 0;
  std::int64_t reach_y = 0;  ///< rows that the largest circle reaches, rounded up
  ArcRule rule{};

  std::int64_t n_nodes() const { return n_x * n_y; }
  RINGWEAVE_HOST_DEVICE std::int64_t n_cells() const { return cells_x * cells_y; }
  RINGWEAVE_HOST_DEVICE std::int64_t n_targets() const { return (row_end - row_begin) * n_x; }
};

/// The radii of a row.
struct RowRadii {
  double least = 0;
  double most = 0;
};

/// Averages with a radius for each node of some rows. Plain data.
struct RadiusPlan {
  RadiusPlan(const PlaneGrid& plane, Interpolation interpolates, std::span<const double> radii_of,
             std::int64_t row_begin, std::int64_t row_end);

  Interpolation interpolation;
  RadiusGrid grid;
  std::span<const double> radii;  ///< [row][x]
  std::vector<RowRadii> rows;
  DerivativeTaps x_taps;  ///< bicubic
  DerivativeTaps y_taps;
};

}  // namespace ringweave::detail::gpu
