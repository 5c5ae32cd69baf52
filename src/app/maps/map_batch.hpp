// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <vector>

#include "app/maps/map_run.hpp"
#include "app/predict/memory_estimate.hpp"

namespace ringweave::detail::inline app {

/// Chooses the groups of maps that are transformed together: of --batch maps, or of as many as are
/// efficient and fit in memory. Results do not depend on the groups.
/// n_components  of one map
/// memory        memory of a run in these groups; collective
/// Collective. Error  UsageError.
std::vector<MapRange> choose_groups(
    Run& run, const MapList& list, const MapsOptions& options, std::int64_t n_components,
    const std::function<MemoryEstimate(const std::vector<MapRange>&)>& memory);

/// Puts each map into its own group; prints the reason if --batch asks for something else.
std::vector<MapRange> one_by_one(Run& run, const MapList& list, const MapsOptions& options,
                                 const std::string& reason);

/// Returns the fields of n_maps equal maps.
FieldSet fields_of(const FieldSet& fields_of_one, std::int64_t n_maps);

/// Adds the maps that wait while others are computed.
/// bytes_of_map  this rank's part of a map with all its components
MemoryEstimate with_others(MemoryEstimate estimate, const std::vector<MapRange>& groups,
                           std::int64_t bytes_of_map);

/// Prints the groups with --dry-run and --verbose.
void tell_groups(Run& run, const MapList& list, const std::vector<MapRange>& groups);

/// Reports that all outputs exist already.
void report_nothing_to_do(Run& run, const MapList& list);

}  // namespace ringweave::detail::inline app
