// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/report/point_report.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/backend_choice.hpp"
#include "app/predict/point_prediction.hpp"
#include "app/report/plan_table.hpp"
#include "app/report/transform_report.hpp"
#include "ringweave/execution.hpp"
#include "transform/transform_plan.hpp"

namespace ringweave::detail::inline app {

PointPrediction predict_points(const Run& run, const TransformPlan& to_rows, PointWork work) {
  work.backend = to_rows.spec.backend;
  if (work.backend == Backend::cuda)
    work.ranks_of_device = std::min(work.n_ranks, ranks_of_device(run));
  return {predict_transforms(run, to_rows, {.all_fields = 1}), estimate_points(work, run.machine)};
}

Estimate record_point_prediction(Run& run, const TransformPlan& to_rows, const PointWork& work) {
  const PointPrediction predicted = predict_points(run, to_rows, work);
  const TransformEstimate& rows = predicted.rows.stages;
  const PointEstimate& points = predicted.points;
  const Estimate total = predicted.total();
  run.report["plan"]["interpolation"] = {{"predicted_seconds", total.seconds},
                                         {"predicted_uncertainty_seconds", total.sigma},
                                         {"predicted_stages",
                                          {{"legendre", rows.legendre.seconds},
                                           {"exchange", rows.exchange.seconds},
                                           {"rows", rows.ring_fft.seconds},
                                           {"points", points.points.seconds},
                                           {"value_exchange", points.value_exchange.seconds}}},
                                         {"bytes_sent", run.comm.sum(to_rows.bytes_sent())}};
  if (rows.copies.seconds > 0)
    run.report["plan"]["interpolation"]["predicted_stages"]["copies"] = rows.copies.seconds;
  if (!run.options.dry_run && !run.options.verbose) return total;
  run.print_line(fmt::format(
      "  predicted{}: {} in one transform to points (Legendre {:.2g}, exchange {:.2g}, rows "
      "{:.2g}{}, points {:.2g}, values {:.2g})",
      whose_costs(run, to_rows.spec.backend == Backend::cuda), seconds_text(total),
      rows.legendre.seconds, rows.exchange.seconds, rows.ring_fft.seconds,
      rows.copies.seconds > 0 ? fmt::format(", copies {:.2g}", rows.copies.seconds) : "",
      points.points.seconds, points.value_exchange.seconds));
  return total;
}

void record_points(Run& run, const PointReport& report) {
  run.report["points"] = nlohmann::ordered_json{{"points", report.points},
                                                {"theta_taps", report.theta_taps},
                                                {"phi_taps", report.phi_taps},
                                                {"fine_rows", report.fine_rows},
                                                {"fine_columns", report.fine_columns},
                                                {"theta_oversampling", report.theta_oversampling},
                                                {"phi_oversampling", report.phi_oversampling},
                                                {"predicted_error", report.predicted_error},
                                                {"most_points", report.most_points},
                                                {"mean_points", report.mean_points},
                                                {"most_rows", report.most_rows},
                                                {"mean_rows", report.mean_rows}};
  if (run.options.dry_run || run.options.verbose) {
    run.print_line(fmt::format(
        "points: {}, taps {} x {}, fine rows {} x {} (oversampling {:.2f}, {:.2f}), predicted "
        "error {:.1e}",
        report.points, report.theta_taps, report.phi_taps, report.fine_rows, report.fine_columns,
        report.theta_oversampling, report.phi_oversampling, report.predicted_error));
    run.print_line(
        fmt::format("points of a rank: at most {}, mean {:.0f}; rows: at most {}, mean {:.0f}",
                    report.most_points, report.mean_points, report.most_rows, report.mean_rows));
  }
}

void record_point_plan(Run& run, const PointTransform& transform) {
  record_points(run, transform.points().report());
  record_point_prediction(run, transform.plan(),
                          point_work(transform, run.comm.size(), omp_get_max_threads()));
}

void record_memory_of_points(Run& run, const MemoryEstimate& estimate,
                             const std::optional<PointDevice>& device) {
  record_memory(run, estimate);
  if (device) {
    run.report["plan"]["device"] = device_entry(run, device->share, device->planned.total());
  }
  if (!run.options.dry_run && !run.options.verbose) return;
  PlanTable table(run);
  table.memory(estimate);
  if (!device) return;
  table.bytes("device: Legendre stage, in blocks", device->planned.legendre);
  table.bytes("device: fine rows and modes", device->planned.rows);
  table.bytes("device: points", device->planned.points);
  table.bytes("device memory", device->planned.total());
  run.print_line("  device: " + device_text(device->share));
}

void record_point_transform(Run& run, const PointReport& report, const StageTimes& times) {
  for (const auto& [stage, entry] : times.entries()) run.times.add(stage, entry.seconds);
  const double seconds = run.comm.max(times.seconds("points"));
  const auto n_points = static_cast<double>(report.points);
  const double rate = seconds > 0 ? n_points / seconds : 0;
  run.report["points"]["points_per_second"] = rate;
  run.detail(fmt::format("sums over taps: {:.3g} points/s", rate));
}

}  // namespace ringweave::detail::inline app
