// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "app/maps/map_run.hpp"
#include "app/smooth/smooth_job.hpp"
#include "app/transform_setup.hpp"
#include "base/checked_cast.hpp"
#include "base/component_update.hpp"
#include "distribute/mpi/agree.hpp"
#include "ringweave/smoothing.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline app {

/// Convolves `n` components of a map on rings, from `first` on. Where these are all of them the map
/// gets the new memory, else the results are copied over the input. Collective.
/// of_masks  as for smooth_on_rings()
template <class T, class Convolution>
SmoothingReport convolve_fields(Run& run, const SmoothJob& job, MapGroup<T>& group,
                                std::int64_t first, std::int64_t n, Convolution& convolution,
                                const MaskOptions& treatment, Convolution* of_masks = nullptr) {
  MapBuffer<T>& map = group.map;
  auto smoothed = agreed(run.comm, [&] { return MapBuffer<T>(n, map.size()); });
  const SmoothingReport report = with_path(job.maps.to_do[to_size(group.range.first)].input, [&] {
    return smooth_on_rings<T>(run.comm, convolution, treatment, map.view().components(first, n),
                              smoothed.view(), of_masks);
  });
  if (n == map.n_components()) {
    map = std::move(smoothed);
    return report;
  }
  copy<T>(std::as_const(smoothed).view(), map.view().components(first, n));
  return report;
}

/// Returns the report of all fields of a map, from those of its scalar fields and of its Q and U.
inline SmoothingReport with_spins(SmoothingReport report, const SmoothingReport& of_spins) {
  if (report.maps.empty()) return of_spins;
  const std::vector<std::int64_t>& unseen = of_spins.maps.front().unseen_pixels;
  std::vector<std::int64_t>& all = report.maps.front().unseen_pixels;
  all.insert(all.end(), unseen.begin(), unseen.end());
  return report;
}

}  // namespace ringweave::detail::inline app
