// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <vector>

#include "app/maps/map_run.hpp"
#include "app/predict/memory_estimate.hpp"

namespace ringweave {

/// The groups a run takes its maps through a transform in: of --batch maps, or of as many as gain
/// from each other and fit the memory. Maps come out the same whatever the groups.
/// n_components  of one map
/// memory        what a run in these groups needs; collective
/// Collective. Error  UsageError.
std::vector<MapRange> choose_groups(
    Run& run, const MapList& list, const MapsOptions& options, std::int64_t n_components,
    const std::function<MemoryEstimate(const std::vector<MapRange>&)>& memory);

/// Each map by itself; says so where --batch asks for something else, with the reason.
std::vector<MapRange> one_by_one(Run& run, const MapList& list, const MapsOptions& options,
                                 const std::string& reason);

/// The fields of so many equal maps.
FieldSet fields_of(const FieldSet& fields_of_one, std::int64_t n_maps);

/// Adds the maps that wait while others are computed.
/// bytes_of_map  of this rank's part of a map with all its components
MemoryEstimate with_others(MemoryEstimate estimate, const std::vector<MapRange>& groups,
                           std::int64_t bytes_of_map);

/// With --dry-run and --verbose: how many maps go how.
void tell_groups(Run& run, const MapList& list, const std::vector<MapRange>& groups);

/// Where all outputs are there already: puts that into the report.
void report_nothing_to_do(Run& run, const MapList& list);

}  // namespace ringweave
