// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/view.hpp"
#include "distribute/halo_plan.hpp"
#include "sphere/kernel_table.hpp"
#include "sphere/local_rings.hpp"

namespace ringweave {

/// Where the pixels of the rings a rank can read lie: its own in its map, foreign ones in a halo.
template <class T>
class RingSource {
 public:
  explicit RingSource(std::int64_t n_rings) : places_(to_size(n_rings)) {}

  void add(const LocalRings& own, MapView<const T> map) {
    for (std::int64_t i = 0; i < own.n_rings(); ++i) {
      places_[static_cast<std::size_t>(own.global(LocalRing{i}))] = {
          map.data() + own.first_pixel(LocalRing{i}), map.stride()};
    }
  }
  void add(const HaloPlan& plan, MapView<const T> halo) {
    for (const HaloPlan::Run& run : plan.runs) {
      for (std::int64_t ring = run.rings.begin; ring < run.rings.end; ++ring)
        places_[to_size(ring)] = {halo.data() + plan.first(RingId{ring}), halo.stride()};
    }
  }
  const T* pixels(std::int64_t ring, std::int64_t map) const {
    const Place& place = places_[to_size(ring)];
    return place.pixels + map * place.stride;
  }

 private:
  struct Place {
    const T* pixels = nullptr;
    std::int64_t stride = 0;  ///< from map to map
  };
  std::vector<Place> places_;  ///< [ring]
};

/// Some consecutive maps of a batch and the kernel they are convolved with.
struct KernelMaps {
  const KernelTable* kernel = nullptr;
  double support = 0;
  double bound = 0;  ///< of the kernel's values
  std::int64_t first_map = 0;
  std::int64_t n_maps = 0;
};

}  // namespace ringweave
