// SPDX-License-Identifier: GPL-3.0-or-later
#include "convolve/ring/cuda/ring_sum_plan.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/checked_cast.hpp"
#include "base/cuda/block_types.hpp"
#include "convolve/ring/ring_pair.hpp"

namespace ringweave::detail::gpu {
namespace {

bool owns(const RingConvolutionPlan& plan, std::int64_t ring) {
  const auto bands = plan.own().bands();
  return std::any_of(bands.begin(), bands.end(),
                     [&](const RingBand& band) { return band.rings.contains(ring); });
}

/// Returns SumRing::mirror.
std::int64_t mirror_of(double offset, std::int64_t n_phi) {
  return offset == 0 ? 0 : offset == 0.5 ? n_phi - 1 : -1;
}

template <class... T>
std::int64_t bytes_of(const std::vector<T>&... values) {
  return ((ssize64(values) * std::int64_t{sizeof(T)}) + ...);
}

}  // namespace

RingSumPlan::RingSumPlan(const RingConvolutionPlan& plan)
    : n_rings(plan.grid().n_rings()),
      spin(plan.spin()),
      is_symmetric(plan.is_symmetric()),
      halves_nyquist(plan.modes().kind != ModeRows::Kind::band_limited) {
  const std::vector<RingOffset> offsets =
      ring_offsets(n_rings, plan.own(), plan.n_ranks() > 1 ? &plan.pixel_halo() : nullptr);
  for (std::int64_t r = 0; r < n_rings; ++r) {
    const Ring& ring = plan.grid().ring(RingId{r});
    const double offset = offset_in_pixels(ring);
    rings.push_back({ring.theta, ring.cos_theta, ring.sin_theta, ring.weight, offset, ring.n_phi,
                     offsets[to_size(r)], mirror_of(offset, ring.n_phi)});
  }
  if (!plan.modes().zone.empty()) plan_modes(plan);
  plan_pixels(plan);
}

void RingSumPlan::plan_modes(const RingConvolutionPlan& plan) {
  const ModeRows& modes = plan.modes();
  highest_order = modes.mmax();
  list_orders(plan.rows(), orders, segments);
  sort_segments();
  list_orders(plan.own_rows(), own_orders, own_segments);
  const std::int64_t middle = (n_rings + 1) / 2;
  const RingRange first = {modes.zone.begin,
                           is_symmetric ? std::min(modes.zone.end, middle) : modes.zone.end};
  for (std::int64_t r = first.begin; r < first.end; ++r) {
    const std::int64_t mirror = n_rings - 1 - r;
    OutputRing output{r, owns(plan, r), is_symmetric && mirror != r && owns(plan, mirror)};
    if (!output.is_own && !output.is_mirror_own) continue;
    output.limit = modes.limit(r);
    add_tiles(plan, output);
    outputs.push_back(output);
  }
  add_sines();
}

/// Own rings come first in a row, then those of the halo; they are searched from north to south.
void RingSumPlan::sort_segments() {
  for (OrderSegments& order : orders) {
    const auto first = segments.begin() + order.first;
    std::sort(first, first + order.count, [](const RowSegment& a, const RowSegment& b) {
      return a.rings.begin < b.rings.begin;
    });
    if (order.count > 0) order.front = *first;
  }
}

void RingSumPlan::add_tiles(const RingConvolutionPlan& plan, OutputRing& output) {
  const ModeRows& modes = plan.modes();
  const RingGrid& grid = plan.grid();
  const double chord = plan.widest_chord();
  // Pixels of every other ring are shifted by half of their distance.
  const std::int64_t step =
      modes.kind == ModeRows::Kind::circulant && plan.equal_run().alternates ? 2 : 1;
  const RingRange near = intersection(plan.window(output.ring), modes.zone);
  output.first_tile = ssize64(tiles);
  for (std::int64_t phase = 0; phase < step; ++phase) {
    PartnerTile tile;
    for (std::int64_t r = near.begin + phase; r < near.end; r += step) {
      const double width =
          RingPairChord(grid.ring(RingId{output.ring}), grid.ring(RingId{r})).half_width(chord);
      if (width < 0) continue;
      if (tile.n_partners == 0) {
        tile.first = checked_cast<std::int32_t>(r, "ring");
        tile.step = static_cast<std::int32_t>(step);
        tile.half = static_cast<std::int32_t>(step == 2 && (r - output.ring) % 2 != 0);
        tile.rule = rule_of(modes.samples(output.ring));
      }
      ++tile.n_partners;
      const std::int64_t n_samples = count_samples(width, modes.samples(output.ring), tile.half);
      tile.n_samples =
          std::max(tile.n_samples, checked_cast<std::int32_t>(n_samples, "samples along a ring"));
      tile.limit = std::max(tile.limit, std::min(modes.limit(output.ring), modes.limit(r)));
      if (tile.n_partners < PartnerTile::most_partners && r + step < near.end) continue;
      tiles.push_back(tile);
      tile = {};
    }
    if (tile.n_partners > 0) tiles.push_back(tile);
  }
  output.n_tiles = ssize64(tiles) - output.first_tile;
}

std::int32_t RingSumPlan::rule_of(std::int64_t around) {
  auto rule = std::find_if(rules.begin(), rules.end(),
                           [&](const SampleRule& other) { return other.around == around; });
  if (rule == rules.end()) {
    std::int64_t n_factors = 0;
    for (const UnitPowers::Request& table : powers) n_factors += UnitPowers::n_factors(table.count);
    powers.push_back(
        {std::numbers::pi_v<long double> / static_cast<long double>(around), 2 * around});
    rule = rules.insert(rule, {around, n_factors, 0});
  }
  return static_cast<std::int32_t>(rule - rules.begin());
}

void RingSumPlan::add_sines() {
  std::vector<std::int64_t> most(rules.size(), 0);
  for (const PartnerTile& tile : tiles) {
    std::int64_t& of_rule = most[to_size(tile.rule)];
    of_rule = std::max<std::int64_t>(of_rule, tile.n_samples);
  }
  for (std::size_t i = 0; i < rules.size(); ++i) {
    rules[i].sines = ssize64(sines);
    const double unit = std::numbers::pi / (2 * static_cast<double>(rules[i].around));
    for (std::int64_t h = 0; h <= std::min(rules[i].around, 2 * most[i]); ++h)
      sines.push_back(RingPairChord::square(std::sin(unit * static_cast<double>(h))));
  }
}

void RingSumPlan::plan_pixels(const RingConvolutionPlan& plan) {
  const RingRange zone = plan.modes().zone;
  for (const RingBand& band : plan.own().bands()) {
    for (std::int64_t r = band.rings.begin; r < band.rings.end; ++r) {
      PixelRing ring{r, plan.has_modes(r), plan.window(r), {}};
      if (plan.has_conjugates())
        add_pixel_ring({r, true, plan.conjugate_window(r), {}}, conjugates);
      if (ring.has_modes) ring.but = intersection(ring.partners, zone);
      if (ring.but != ring.partners) add_pixel_ring(ring, pixels);
    }
  }
}

void RingSumPlan::add_pixel_ring(const PixelRing& ring, PixelRingSets& sets) const {
  const auto has_images = [](const SumRing& of) { return of.n_phi % 4 == 0 && of.mirror >= 0; };
  const SumRing& own = rings[to_size(ring.ring)];
  bool are_equal = true;
  bool are_symmetric = has_images(own);
  for (std::int64_t r = ring.partners.begin; r < ring.partners.end; ++r) {
    if (ring.but.contains(r)) continue;
    const SumRing& partner = rings[to_size(r)];
    are_equal = are_equal && partner.n_phi == own.n_phi;
    are_symmetric = are_symmetric && has_images(partner);
  }
  (are_equal ? sets.equal : are_symmetric ? sets.symmetric : sets.other).add(ring, own.n_phi);
}

std::int64_t RingSumPlan::table_bytes() const {
  std::int64_t n_factors = 0;
  for (const UnitPowers::Request& table : powers) n_factors += UnitPowers::n_factors(table.count);
  return bytes_of(outputs, tiles, rules, sines, orders, segments, own_orders, own_segments, rings,
                  pixels.equal.rings, pixels.symmetric.rings, pixels.other.rings,
                  conjugates.equal.rings, conjugates.symmetric.rings, conjugates.other.rings) +
         n_factors * std::int64_t{sizeof(Double2)};
}

}  // namespace ringweave::detail::gpu
