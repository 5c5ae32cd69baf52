// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "base/checked_cast.hpp"
#include "distribute/halo/halo_plan.hpp"
#include "ringweave/grid.hpp"
#include "ringweave/views.hpp"
#include "sphere/kernel/kernel_table.hpp"

namespace ringweave::detail::inline convolve {

/// Offsets of the rings a rank can read: its own in its map, others in a halo.
class RingOffsets {
 public:
  RingOffsets(std::int64_t n_rings, const LocalRings& own, const HaloPlan* halo)
      : places_(to_size(n_rings)) {
    for (std::int64_t i = 0; i < own.n_rings(); ++i)
      places_[static_cast<std::size_t>(own.global(LocalRing{i}))] = {own.first_pixel(LocalRing{i}),
                                                                     false};
    if (halo == nullptr) return;
    for (const HaloPlan::Run& run : halo->runs) {
      for (std::int64_t ring = run.rings.begin; ring < run.rings.end; ++ring)
        places_[to_size(ring)] = {halo->first(RingId{ring}), true};
    }
  }

 private:
  template <class T>
  friend class RingSource;
  struct Place {
    std::int64_t first = 0;
    bool is_foreign = false;
  };
  std::vector<Place> places_;  ///< [ring]
};

/// The pixels of the rings a rank can read.
template <class T>
class RingSource {
 public:
  RingSource(const RingOffsets& places, MapView<const T> own, MapView<const T> halo)
      : places_(&places), own_(own), halo_(halo) {}

  const T* pixels(std::int64_t ring, std::int64_t map) const {
    const RingOffsets::Place& place = places_->places_[to_size(ring)];
    const MapView<const T>& from = place.is_foreign ? halo_ : own_;
    return from.data() + map * from.stride() + place.first;
  }

 private:
  const RingOffsets* places_;
  MapView<const T> own_;
  MapView<const T> halo_;
};

/// Some consecutive maps of a batch and the kernel they are convolved with.
struct KernelMaps {
  const KernelTable* kernel = nullptr;
  double support = 0;
  double bound = 0;  ///< of the kernel's values
  std::int64_t first_map = 0;
  std::int64_t n_maps = 0;
};

}  // namespace ringweave::detail::inline convolve
