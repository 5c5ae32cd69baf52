// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>

#include "app/predict/point_prediction.hpp"
#include "perf_models/machine.hpp"
#include "ringweave/grid.hpp"
#include "ringweave/points.hpp"
#include "transform/transform_scaling.hpp"

namespace ringweave::detail::inline app {

// What a pixel takes in lensing beside sums over taps, as operations on vectors like theirs
// (measured at lmax 1023).
inline constexpr double operations_of_position = 5;
inline constexpr double operations_of_rotation = 5;
inline constexpr double operations_of_sorting = 40;

/// Predicts `each` operations for some pixels of a rank. Not collective.
Estimate estimate_pixels(double n_pixels, double each, int n_threads, const Machine& machine);

/// A lensed map on a grid, before anything of it is planned, with a potential of the lmax of the
/// a_lm, on any number of ranks. Not collective.
class LensedGrid {
 public:
  /// Error  UsageError when the specification contradicts itself.
  LensedGrid(const PointSpec& spec, std::shared_ptr<const RingGrid> grid);

  const EvenPoints& points() const { return points_; }
  /// Predicts the deflection: the transform of d, positions and rotation of the pixels.
  Estimate deflection(int n_ranks, int n_threads, const Machine& machine) const;
  /// Memory of the rank with most, with maps and a_lm of doubles, without the program.
  std::int64_t memory(int n_ranks, int n_threads) const;

 private:
  PointSpec spec_;
  std::shared_ptr<const RingGrid> grid_;
  EvenPoints points_;
  TransformScaling deflection_;
};

}  // namespace ringweave::detail::inline app
