// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lens/lens_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/report/plan_table.hpp"
#include "app/transform_setup.hpp"

namespace ringweave::detail::inline app {
namespace {

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
  if (!run.options.dry_run && !run.options.verbose) return;
  run.say(fmt::format(
      "points: {}, taps {} x {}, fine rows {} x {} (oversampling {:.2f}, {:.2f}), predicted error "
      "{:.1e}",
      report.points, report.theta_taps, report.phi_taps, report.fine_rows, report.fine_columns,
      report.theta_oversampling, report.phi_oversampling, report.predicted_error));
  run.say(fmt::format("points of a rank: at most {}, mean {:.0f}; rows: at most {}, mean {:.0f}",
                      report.most_points, report.mean_points, report.most_rows, report.mean_rows));
}

/// Maps in double that the search for the inverse deflection holds beside the deflection.
constexpr std::int64_t inverse_maps = 15;

}  // namespace

void require_memory_for_lensing(const Run& run, const LensJob& job, int potential_lmax) {
  TransformSpec spec;
  spec.grid = job.grid;
  spec.lmax = job.spec.lmax;
  spec.mmax = job.spec.mmax;
  spec.fields = job.spec.fields;
  require_memory_for(run, spec, job.precision);
  spec.lmax = spec.mmax = potential_lmax;
  spec.fields = FieldSet({1});
  require_memory_for(run, spec, Precision::double_);
  if (job.options.inverse) require_memory_for(run, *job.grid, inverse_maps + 2, Precision::double_);
}

void require_lensing_plan(Run& run, const LensJob& job, const Deflection& deflection,
                          const Lensing& lensing, MemoryEstimate before) {
  const std::int64_t n = bytes_of(job.precision) * job.spec.fields.n_components();
  const std::int64_t n_pixels = lensing.rings().n_pixels();
  std::vector<MemoryItem> items{{"a_lm", 2 * n * lensing.alm_layout().size()},
                                {"map", n * n_pixels},
                                {"points, rows and modes", lensing.bytes()}};
  if (job.options.inverse) {
    // The search ends before the others are allocated.
    std::int64_t later = 0;
    for (const MemoryItem& item : items) later += item.bytes;
    items.push_back(
        {"inverse deflection", std::max<std::int64_t>(0, 8 * inverse_maps * n_pixels - later)});
  }
  items.push_back({"deflection", deflection.bytes()});
  MemoryEstimate estimate = std::move(before);
  std::move(items.begin(), items.end(), std::back_inserter(estimate.items));
  record_memory(run, estimate);
  record_points(run, lensing.report());
  if (run.options.dry_run || run.options.verbose) PlanTable(run).memory(estimate);
  require_memory(run, estimate);
}

void record_lensing(Run& run, Lensing& lensing) {
  for (const auto& [stage, entry] : lensing.times().entries()) run.times.add(stage, entry.seconds);
  const double seconds = run.comm.max(lensing.times().seconds("points"));
  const auto n_points = static_cast<double>(lensing.report().points);
  const double rate = seconds > 0 ? n_points / seconds : 0;
  run.report["points"]["points_per_second"] = rate;
  run.detail(fmt::format("sums over taps: {:.3g} points/s", rate));
}

}  // namespace ringweave::detail::inline app
