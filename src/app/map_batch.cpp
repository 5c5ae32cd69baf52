// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/map_batch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/transform_setup.hpp"
#include "distribute/mpi/agree.hpp"

namespace ringweave::detail::inline app {
namespace {

// Two or three components share a recurrence, as registers allow; more than six together gain
// little.
constexpr std::int64_t components_together = 6;

/// Returns the group size, among those with a similar gain, that leaves the fewest empty slots; the
/// largest of these.
std::int64_t usual_batch(std::int64_t n_maps, std::int64_t n_components) {
  const std::int64_t most = std::max<std::int64_t>(1, components_together / n_components);
  if (n_maps <= most) return std::max<std::int64_t>(1, n_maps);
  std::int64_t best = most;
  const auto empty = [&](std::int64_t batch) { return (batch - n_maps % batch) % batch; };
  for (std::int64_t batch = most - 1; 2 * batch > most; --batch)
    if (empty(batch) < empty(best)) best = batch;
  return best;
}

}  // namespace

TransformSpec GroupTransform::spec(std::int64_t n_maps) const {
  std::vector<int> spins;
  for (std::int64_t i = 0; i < n_maps; ++i) {
    for (const FieldSet::Field& field : of_one_.fields.fields()) spins.push_back(field.spin);
  }
  TransformSpec batch = of_one_;
  batch.fields = FieldSet(spins);
  batch.theta_components = n_components();
  return batch;
}

TransformPlan GroupTransform::plan(std::int64_t n_maps) const {
  return agreed(run_.comm,
                [&] { return TransformPlan(spec(n_maps), run_.comm.rank(), run_.comm.size()); });
}

std::vector<MapRange> GroupTransform::choose_groups(const MapList& list, const MapsOptions& options,
                                                    const MemoryUse& use) const {
  if (options.batch > 0) return even_ranges(list.n(), options.batch);
  std::int64_t batch = usual_batch(list.n(), n_components());
  std::vector<MapRange> groups = even_ranges(list.n(), batch);
  const auto fit = [&] {
    const TransformPlan largest = plan(groups.front().count);
    return fits_memory(run_.comm,
                       with_others(estimate_memory(largest, use), groups,
                                   map_bytes(of_one_.fields, largest.rings, use.precision)));
  };
  while (batch > 1 && !fit()) groups = even_ranges(list.n(), --batch);
  return groups;
}

void GroupTransform::plan_for(std::int64_t n_maps, const MemoryUse& use) {
  if (transform_ != nullptr) {
    if (transform_->fields().n_components() == n_maps * n_components()) return;
    record();
    transform_.reset();
  }
  transform_ = plan_transform(run_, spec(n_maps), use, backend_);
}

void GroupTransform::record() {
  record_transform(run_, *transform_, count_);
  count_ = {};
}

std::vector<MapRange> one_by_one(Run& run, const MapList& list, const MapsOptions& options,
                                 const std::string& reason) {
  if (options.batch > 1) run.print_line(fmt::format("maps are processed one by one: {}", reason));
  return even_ranges(list.n(), 1);
}

std::int64_t map_bytes(const FieldSet& fields, const LocalRings& rings, Precision precision) {
  return fields.n_components() * rings.n_pixels() * bytes_of(precision);
}

MemoryEstimate with_others(MemoryEstimate estimate, const std::vector<MapRange>& groups,
                           std::int64_t bytes_of_map) {
  if (holds_others(groups)) {
    estimate.items.push_back(
        {"maps read ahead or being written", groups.front().count * bytes_of_map});
  }
  return estimate;
}

void tell_groups(Run& run, const MapList& list, const std::vector<MapRange>& groups) {
  if (list.is_single() || !(run.options.dry_run || run.options.verbose)) return;
  run.print_line(fmt::format(
      "maps: {} of {} to do, {} at a time{}", list.n(), list.total, groups.front().count,
      holds_others(groups) ? ", files read and written at the same time" : ""));
}

void report_nothing_to_do(Run& run, const MapList& list) {
  run.report["maps"] = {
      {"done", 0}, {"skipped", list.total}, {"again", 0}, {"total", list.total}, {"batch", 0}};
}

}  // namespace ringweave::detail::inline app
