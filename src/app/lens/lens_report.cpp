// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lens/lens_report.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "app/report/plan_table.hpp"
#include "app/report/point_report.hpp"
#include "app/transform_setup.hpp"

namespace ringweave::detail::inline app {
namespace {

/// Maps in double that the search for the inverse deflection holds beside the deflection.
constexpr std::int64_t inverse_maps = 26;

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
  record_point_plan(run, lensing.transform());
  if (run.options.dry_run || run.options.verbose) PlanTable(run).memory(estimate);
  require_memory(run, estimate);
}

}  // namespace ringweave::detail::inline app
