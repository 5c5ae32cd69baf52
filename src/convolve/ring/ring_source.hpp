// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/checked_cast.hpp"
#include "distribute/halo/halo_plan.hpp"
#include "ringweave/grid.hpp"
#include "ringweave/views.hpp"
#include "sphere/kernel/kernel_table.hpp"

namespace ringweave::detail::inline convolve {

/// The place of a ring that a rank can read: in its own map, or in a halo.
struct RingOffset {
  std::int64_t first = 0;
  bool is_foreign = false;
};

/// Returns the offsets of all rings, [ring], of which the rank owns some and finds others in a halo
/// (null: none).
inline std::vector<RingOffset> ring_offsets(std::int64_t n_rings, const LocalRings& own,
                                            const HaloPlan* halo) {
  std::vector<RingOffset> offsets(to_size(n_rings));
  for (std::int64_t i = 0; i < own.n_rings(); ++i)
    offsets[to_size(index(own.global(LocalRing{i})))] = {own.first_pixel(LocalRing{i}), false};
  if (halo == nullptr) return offsets;
  for (const HaloPlan::Run& run : halo->runs) {
    for (std::int64_t ring = run.rings.begin; ring < run.rings.end; ++ring)
      offsets[to_size(ring)] = {halo->first(RingId{ring}), true};
  }
  return offsets;
}

/// The pixels of the rings a rank can read.
template <class T>
struct RingSource {
  std::span<const RingOffset> offsets;  ///< [ring]
  MapView<const T> own;
  MapView<const T> halo;

  const T* pixels(std::int64_t ring, std::int64_t map) const {
    const RingOffset& offset = offsets[to_size(ring)];
    const MapView<const T>& from = offset.is_foreign ? halo : own;
    return from.data() + map * from.stride() + offset.first;
  }
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
