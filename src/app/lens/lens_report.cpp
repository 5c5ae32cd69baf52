// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lens/lens_report.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "app/lens/lensed_map.hpp"
#include "app/report/plan_table.hpp"
#include "app/report/point_report.hpp"
#include "app/transform_setup.hpp"
#include "transform/transform_plan.hpp"

namespace ringweave::detail::inline app {
namespace {

/// Maps in double that the search for the inverse deflection holds beside the deflection.
constexpr std::int64_t inverse_maps = 26;
constexpr std::int64_t deflection_maps = 5;  ///< that --deflection writes, in double

std::int64_t sum_of(const std::vector<MemoryItem>& items) { return MemoryEstimate{items}.total(); }

/// What --lensed-lmax holds beside the map and the a_lm of the job.
MemoryItem memory_of_cut(const Run& run, const LensJob& job, const Deflection& deflection) {
  const LensedCut cut = lensed_cut(job, deflection);
  const TransformPlan plan(cut.spec, run.comm.rank(), run.comm.size());
  const MemoryUse use{
      .operation = cut.n_iter > 0 ? Operation::analysis_iterating : Operation::analysis_consuming,
      .precision = job.precision};
  const std::int64_t map =
      bytes_of(job.precision) * job.spec.fields.n_components() * plan.rings.n_pixels();
  return {"analysis to --lensed-lmax",
          std::max<std::int64_t>(0, estimate_memory(plan, use).buffers() - map)};
}

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
  const LensOptions& options = job.options;
  const std::int64_t number = bytes_of(job.precision);
  const std::int64_t n = job.spec.fields.n_components();
  const std::int64_t n_drawn = options.cl.empty() ? n : std::max<std::int64_t>(n, 4);
  const std::int64_t n_pixels = lensing.rings().n_pixels();
  std::vector<MemoryItem> items{{"a_lm", 2 * number * n_drawn * lensing.alm_layout().size()},
                                {"map", number * n * n_pixels}};
  if (options.lensed_lmax >= 0) items.push_back(memory_of_cut(run, job, deflection));
  // What ends before others are allocated counts as far as it is more than they.
  const auto add_earlier = [&](const char* name, std::int64_t bytes, std::int64_t later) {
    items.push_back({name, std::max<std::int64_t>(0, bytes - later)});
  };
  if (options.magnification) add_earlier("magnification", 8 * n_pixels, items.front().bytes);
  if (!options.deflection.empty())
    add_earlier("map of --deflection", 8 * deflection_maps * n_pixels, sum_of(items));
  items.push_back({"points, rows and modes", lensing.bytes()});
  if (options.inverse)
    add_earlier("inverse deflection", 8 * inverse_maps * n_pixels, sum_of(items));
  items.push_back({"deflection", deflection.bytes()});
  MemoryEstimate estimate = std::move(before);
  std::move(items.begin(), items.end(), std::back_inserter(estimate.items));
  record_memory(run, estimate);
  record_point_plan(run, lensing.transform());
  if (run.options.dry_run || run.options.verbose) PlanTable(run).memory(estimate);
  require_memory(run, estimate);
}

}  // namespace ringweave::detail::inline app
