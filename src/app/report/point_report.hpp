// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>

#include "app/predict/memory_estimate.hpp"
#include "app/predict/point_prediction.hpp"
#include "app/report/transform_report.hpp"
#include "app/run.hpp"
#include "perf_models/point_model.hpp"
#include "ringweave/points.hpp"
#include "transform/transform_plan.hpp"

namespace ringweave::detail::inline app {

/// Predicted seconds of one transform to points.
struct PointPrediction {
  TransformPrediction rows;  ///< of the slowest rank
  PointEstimate points;      ///< of the rank with most of them, with this rank's threads

  Estimate total() const { return rows.total + points.total(); }
};
/// Predicts it. Collective.
/// to_rows  plan of the transform to fine rows
PointPrediction predict_points(const Run& run, const TransformPlan& to_rows, PointWork work);

/// Puts taps, fine rows and balance of points into the report and, with --dry-run or --verbose,
/// prints them.
void record_points(Run& run, const PointReport& report);
/// Does the same with the predicted seconds of one transform to points, which it returns, in either
/// direction. Collective.
/// to_rows  the transform to fine rows
Estimate record_point_prediction(Run& run, const TransformPlan& to_rows, const PointWork& work);

/// Puts taps, fine rows, balance and predicted seconds of one transform to points, in either
/// direction, into the report and, with --dry-run or --verbose, prints them. Collective.
void record_point_plan(Run& run, const PointTransform& transform);

/// Puts the memory of a run on points into the report and, with --dry-run or --verbose, prints it.
/// Collective.
/// device  where its transform to points is, if it is on one
void record_memory_of_points(Run& run, const MemoryEstimate& estimate,
                             const std::optional<PointDevice>& device);

/// Reports a transform to points that was done once: seconds of its stages and points per second.
/// Collective.
void record_point_transform(Run& run, const PointReport& report, const StageTimes& times);

}  // namespace ringweave::detail::inline app
