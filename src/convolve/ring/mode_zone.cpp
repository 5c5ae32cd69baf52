// SPDX-License-Identifier: GPL-3.0-or-later
#include "convolve/ring/mode_zone.hpp"

#include <complex>
#include <utility>

#include "base/checked_cast.hpp"

namespace ringweave::detail::inline convolve {
namespace {

/// Returns the position of a ring in a row; -1: none.
std::int64_t position_of(const ModeLayout& layout, int m, std::int64_t ring) {
  for (const RowSegment& segment : layout.segments(layout.rows()[to_size(m)])) {
    if (segment.rings.contains(ring)) return segment.first + ring - segment.rings.begin;
  }
  return -1;
}

}  // namespace

ModeZone::ModeZone(const RingConvolutionPlan& plan)
    : shape{plan.own().within(plan.modes().zone), plan.own_rows(), plan.maps_together()} {
  const LocalRings& own = plan.own();
  const LocalRings& rings = shape.rings;
  if (rings.n_rings() > 0) first_pixel = own.first_pixel(own.local(rings.global(LocalRing{0})));
  n_pixels = rings.n_pixels();
  for (std::int64_t i = 0; i < rings.n_rings(); ++i)
    weights.push_back(rings.ring(LocalRing{i}).weight);
  for (const HaloPlan::Message& message : plan.mode_halo().sends)
    shape.urgent.push_back(message.rings);
}

void repeat_halo_modes(const RingConvolutionPlan& plan, ModeView<double> modes) {
  const std::int64_t n_maps = plan.maps_together();
  for (const HaloPlan::Run& run : plan.mode_halo().runs) {
    const RingRange rings = intersection(run.rings, plan.modes().zone);
    for (std::int64_t t = rings.begin; t < rings.end; ++t) {
      const Ring& ring = plan.grid().ring(RingId{t});
      const int n = checked_cast<int>(ring.n_phi, "pixels of a ring");
      const int n_travelled = checked_cast<int>(plan.mode_orders().values(RingId{t}), "orders");
      for (int m = n_travelled; m <= plan.modes().limit(t); ++m) {
        const bool is_mirrored = 2 * (m % n) > n;
        const int turns = m / n + (is_mirrored ? 1 : 0);
        const int below = is_mirrored ? n - m % n : m % n;
        const std::complex<double> turn =
            std::polar(1.0, -ring.phi0 * static_cast<double>(turns) * n);
        const std::int64_t from = position_of(plan.rows(), below, t) * n_maps;
        const std::int64_t to = position_of(plan.rows(), m, t) * n_maps;
        for (std::int64_t map = 0; map < n_maps; ++map) {
          const std::complex<double> value = modes[from + map];
          modes[to + map] = turn * (is_mirrored ? std::conj(value) : value);
        }
      }
    }
  }
}

}  // namespace ringweave::detail::inline convolve
