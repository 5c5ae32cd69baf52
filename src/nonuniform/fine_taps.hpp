// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "distribute/points/point_plan.hpp"
#include "nonuniform/fine_grid.hpp"
#include "nonuniform/tap_choice.hpp"
#include "nonuniform/tap_kernel.hpp"
#include "ringweave/points.hpp"
#include "ringweave/transform.hpp"

namespace ringweave::detail::inline nonuniform {

/// Chooses the taps of a specification for the points of all ranks. No kernel is fitted.
TapChoice choose_taps(const PointSpec& spec, std::int64_t n_points);
/// Returns all rows of a choice, as points take their values from.
FineRows rows_of(const TapChoice& choice, UntouchedRows untouched);
/// Describes a transform to points that are planned so, with these taps.
PointReport report_of(const PointSpec& spec, const TapChoice& choice, const PointPlan& plan);

/// The taps and fine rows chosen for a specification.
struct FineTaps {
  /// n_points  of all ranks
  FineTaps(const PointSpec& spec, std::int64_t n_points);

  /// All rows, as points take their values from.
  FineRows rows(UntouchedRows untouched) const;
  /// Returns the specification of a transform to fine rows that are distributed so, and may be only
  /// some of them.
  TransformSpec transform_spec(const PointSpec& spec, const RingDistribution& bands) const;

  TapChoice choice;
  TapKernel theta;
  TapKernel phi;
  FineGrid grid;
  std::vector<double> beyond_pole;  ///< [component] factor of rows beyond a pole, (-1)^spin

 private:
  std::shared_ptr<const RingGrid> ring_grid_;
};

}  // namespace ringweave::detail::inline nonuniform
