// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>

#include "app/predict/point_prediction.hpp"
#include "distribute/ring_distribution.hpp"
#include "nonuniform/lensing_memory.hpp"
#include "perf_models/machine.hpp"
#include "ringweave/grid.hpp"
#include "ringweave/lensing.hpp"
#include "ringweave/points.hpp"
#include "transform/transform_scaling.hpp"

namespace ringweave::detail::inline app {

/// The rms and about the largest deflection of the CMB, radians.
inline constexpr double usual_rms = 8e-4;
inline constexpr double usual_largest = 5 * usual_rms;

/// The pixels of a grid at the fine rows of a field, as many as it is evaluated at.
struct FieldAtPixels {
  PointSpec spec;
  PixelPoints pixels;
  PointReport report;

  /// Returns the bytes of values that the rank which sends most sends to others.
  double sent_bytes() const;
};

/// Plans the pixels of a deflection like that of the CMB. Not collective.
/// bands  the rings of the ranks
FieldAtPixels field_at_pixels(const PointSpec& spec, std::int64_t n_points, UntouchedRows untouched,
                              const RingDistribution& bands);

/// Returns the work of the rank that sums most pixels in one transform to them: their positions,
/// turns of the frame and sums.
/// rows  the transform to fine rows
PointWork lensing_work(const TransformSpec& rows, const FieldAtPixels& lensed,
                       FrameRotation rotation, const Processors& processors);

/// A lensed map on a grid, before anything of it is planned, with a potential of the lmax of the
/// a_lm, on any number of ranks. Not collective.
class LensedGrid {
 public:
  /// Describes the transforms to the pixels of `grid`. Error  UsageError when the specification
  /// contradicts itself.
  LensedGrid(const PointSpec& spec, std::shared_ptr<const RingGrid> grid);

  const EvenPoints& points() const { return points_; }
  /// Predicts the deflection.
  Estimate deflection(int n_ranks, int n_threads, const Machine& machine) const;
  /// Plans the transform to the pixels. The memory is that of the rank that sums most, with maps
  /// and a_lm of doubles, without the program.
  PointShare share(int n_ranks, int n_threads) const;

 private:
  PointSpec spec_;
  std::shared_ptr<const RingGrid> grid_;
  EvenPoints points_;
  TransformScaling deflection_;
};

}  // namespace ringweave::detail::inline app
