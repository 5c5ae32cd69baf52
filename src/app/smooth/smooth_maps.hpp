// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "app/maps/map_run.hpp"
#include "app/smooth/smooth_job.hpp"
#include "base/buffer.hpp"

namespace ringweave {

/// Maps that are smoothed together, on this rank.
template <class T>
struct SmoothedMaps {
  MapBuffer<T> map;                ///< [map, component][own pixel]
  std::vector<MapHeader> headers;  ///< as in their files
  Provenance provenance;           ///< of all of them; the input is missing
};

/// The maps the job has to do, each with its output. Collective. Error  UsageError.
MapList list_smoothings(Run& run, const SmoothOptions& options);

/// Opens the inputs, checks that they are alike, and says what is odd about them. The first stays
/// open where it is the only one. Collective. Error  DataError.
void open_inputs(Run& run, SmoothJob& job);

/// The step that reads the maps of a group into new memory. `rings` outlives it.
template <class T>
std::function<void(FileTraffic&, MapGroup<SmoothedMaps<T>>&)> reading_maps(Run& run,
                                                                           const SmoothJob& job,
                                                                           const LocalRings& rings);

/// The step that writes them.
template <class T>
std::function<void(FileTraffic&, MapGroup<SmoothedMaps<T>>&)> writing_maps(Run& run,
                                                                           const SmoothJob& job,
                                                                           const LocalRings& rings);

/// Says what the run did: `how` is the way a single map was smoothed. Returns the exit code.
int conclude_smoothing(Run& run, const SmoothJob& job, const MapsDone& done,
                       const std::string& how);

}  // namespace ringweave
