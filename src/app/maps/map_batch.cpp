// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/maps/map_batch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "ringweave/error.hpp"

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

std::vector<MapRange> choose_groups(
    Run& run, const MapList& list, const MapsOptions& options, std::int64_t n_components,
    const std::function<MemoryEstimate(const std::vector<MapRange>&)>& memory) {
  if (options.batch > 0) return even_ranges(list.n(), options.batch);
  std::int64_t batch = usual_batch(list.n(), n_components);
  std::vector<MapRange> groups = even_ranges(list.n(), batch);
  while (batch > 1 && !fits_memory(run, memory(groups))) groups = even_ranges(list.n(), --batch);
  return groups;
}

std::vector<MapRange> one_by_one(Run& run, const MapList& list, const MapsOptions& options,
                                 const std::string& reason) {
  if (options.batch > 1) run.say(fmt::format("maps are processed one by one: {}", reason));
  return even_ranges(list.n(), 1);
}

FieldSet fields_of(const FieldSet& fields_of_one, std::int64_t n_maps) {
  std::vector<int> spins;
  for (std::int64_t i = 0; i < n_maps; ++i) {
    for (const FieldSet::Field& field : fields_of_one.fields()) spins.push_back(field.spin);
  }
  return FieldSet(spins);
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
  run.say(fmt::format("maps: {} of {} to do, {} at a time{}", list.n(), list.total,
                      groups.front().count,
                      holds_others(groups) ? ", files read and written meanwhile" : ""));
}

void report_nothing_to_do(Run& run, const MapList& list) {
  run.report["maps"] = {{"done", 0}, {"skipped", list.total}, {"total", list.total}, {"batch", 0}};
}

}  // namespace ringweave::detail::inline app
