// SPDX-License-Identifier: GPL-3.0-or-later
#include "fft/host/ring_plan.hpp"

#include <algorithm>
#include <map>
#include <numbers>
#include <string>

#include "base/checked_cast.hpp"
#include "fft/host/lane_rings.hpp"
#include "fft/ring_modes.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline fft {
namespace {

// A tile of this size stays in the L2 cache together with one ring's FFT.
constexpr std::int64_t tile_bytes = std::int64_t{1} << 20;
// More rings hardly fill vectors better, and larger tiles add memory for small maps.
constexpr std::int64_t most_rings_per_run = 12;
constexpr std::int64_t cache_line_values = 4;
constexpr std::int64_t blocks_per_thread = 8;
// Fewer rings of one length would leave lanes empty. Counted over the whole grid, so that the
// method for a ring depends neither on its rank nor on the batch.
constexpr std::int64_t fewest_rings_in_lanes = 8;
constexpr std::int64_t most_lanes_per_run = 32;

}  // namespace

RingPlan::RingPlan(const RingFftShape& shape, int n_threads)
    : rings(to_size(shape.rings.n_rings())) {
  n_modes = shape.rows.rows().empty() ? 0 : shape.rows.rows().back().m + std::int64_t{1};
  const std::vector<ModeCount> modes = modes_of_rings(shape);
  for (std::int64_t i = 0; i < shape.rings.n_rings(); ++i) {
    rings[to_size(i)].n_modes = modes[to_size(i)].n_modes;
    rings[to_size(i)].n_present = modes[to_size(i)].n_present;
  }
  plan_lengths(shape);
  if (shape.use == RingFftUse::runs && max_phi > 0) {
    throw UsageError(
        "the ring FFT takes rings in runs only if their lengths are even and without "
        "prime factors above 13; one has " +
        std::to_string(max_phi) + " pixels");
  }
  cut_lane_runs(shape, n_threads);
  cut_blocks(shape, n_threads);
  move_urgent_ahead(shape.urgent);
}

void RingPlan::plan_lengths(const RingFftShape& shape) {
  const LocalRings& owned = shape.rings;
  std::vector<UnitPowers::Request> requests;
  std::map<std::int64_t, std::int64_t> length_index;
  std::map<double, std::int64_t> phase_table;
  std::map<std::int64_t, std::int64_t> n_rings_of_length;
  for (std::int64_t i = 0; i < owned.grid().n_rings(); ++i)
    ++n_rings_of_length[owned.grid().ring(RingId{i}).n_phi];
  for (std::int64_t i = 0; i < owned.n_rings(); ++i) {
    const Ring& ring = owned.ring(LocalRing{i});
    RingEntry& entry = rings[to_size(i)];
    entry.first_pixel = owned.first_pixel(LocalRing{i});
    const auto [found, is_new] = length_index.try_emplace(ring.n_phi, ssize64(lengths));
    entry.length = found->second;
    if (is_new) {
      add_length(
          RingLength(ring.n_phi),
          shape.use == RingFftUse::runs || n_rings_of_length[ring.n_phi] >= fewest_rings_in_lanes,
          requests);
    }
    if (!is_in_lanes(i)) max_modes = std::max(max_modes, entry.n_modes);
    if (ring.phi0 == 0) continue;
    const auto [phase, is_new_phase] = phase_table.try_emplace(ring.phi0, ssize64(requests));
    entry.phases = phase->second;
    if (is_new_phase) requests.push_back({static_cast<long double>(ring.phi0), 0});
    std::int64_t& count = requests[to_size(entry.phases)].count;
    // Rings that share a vector use as many phases as the one with the most modes.
    count = std::max(count, is_in_lanes(i) ? n_modes : entry.n_modes);
  }
  powers = UnitPowers(requests);
}

void RingPlan::add_length(const RingLength& length, bool is_worth_lanes,
                          std::vector<UnitPowers::Request>& requests) {
  Length& added = lengths.emplace_back(Length{length, ssize64(requests), nullptr, {}, {}, -1});
  const auto angle = std::numbers::pi_v<long double> / static_cast<long double>(length.n_complex);
  requests.push_back({angle, length.n_complex});
  if (length.is_even() && length.is_smooth() && is_worth_lanes) {
    added.radices = radices_of(length.n_complex);
    added.turns = ssize64(requests);
    requests.push_back({2 * angle, length.n_complex});
    max_lane_phi = std::max(max_lane_phi, length.n_phi);
    return;
  }
  max_phi = std::max(max_phi, length.n_phi);
  max_complex = std::max(max_complex, length.n_complex);
  if (length.is_smooth()) {
    added.smooth = &BackwardFft::of_length(length.n_complex);
  } else {
    added.split = {&column_plan_.columns(length, requests), &column_plan_.fft(length.n_smooth)};
    capacity.include(added.split);
  }
}

void RingPlan::cut_lane_runs(const RingFftShape& shape, int n_threads) {
  const std::int64_t lanes = lane_rings::n_lanes();
  const std::int64_t by_balance =
      shape.rings.n_rings() * shape.n_components / (blocks_per_thread * n_threads);
  const std::int64_t wanted =
      std::clamp<std::int64_t>(by_balance / lanes * lanes, lanes, most_lanes_per_run);
  const std::int64_t most = (wanted + shape.n_components - 1) / shape.n_components;
  for (const RingBand& band : shape.rings.bands()) {
    const std::int64_t first = index(band.first);
    const auto length_of = [&](std::int64_t i) { return rings[to_size(first + i)].length; };
    for (std::int64_t i = 0; i < band.rings.size();) {
      if (!is_in_lanes(first + i)) {
        ++i;
        continue;
      }
      std::int64_t end = i + 1;
      while (end < band.rings.size() && end - i < most && length_of(end) == length_of(i)) ++end;
      lane_runs.push_back(
          {RingRange{band.rings.begin + i, band.rings.begin + end}, first + i, length_of(i)});
      i = end;
    }
  }
}

void RingPlan::cut_blocks(const RingFftShape& shape, int n_threads) {
  std::vector<std::int64_t> others;
  for (std::int64_t i = 0; i < shape.rings.n_rings(); ++i) {
    if (!is_in_lanes(i)) others.push_back(index(shape.rings.global(LocalRing{i})));
  }
  // Pair the k-th ring from the north with the k-th from the south, its mirror on most grids; the
  // middle one of an odd number is alone.
  const std::int64_t n = ssize64(others);
  const std::int64_t n_pairs = (n + 1) / 2;
  const auto by_cache =
      tile_bytes / (2 * ModeTile::bytes_per_ring(shape.n_components, ring_values()));
  const std::int64_t by_line = (cache_line_values + shape.n_components - 1) / shape.n_components;
  const std::int64_t by_balance = n_pairs / (blocks_per_thread * n_threads);
  const std::int64_t run = std::clamp<std::int64_t>(
      std::min(std::max(by_cache, by_line), by_balance), 1, most_rings_per_run);
  const auto ring = [&](std::int64_t k) { return others[to_size(k)]; };
  const auto continues = [&](std::int64_t k) {
    return ring(k) == ring(k - 1) + 1 && ring(n - 1 - k) == ring(n - k) - 1;
  };
  for (std::int64_t pair = 0; pair < n_pairs;) {
    std::int64_t end = pair + 1;
    while (end < n_pairs && end - pair < run && continues(end)) ++end;
    const std::int64_t mirrors = std::max(end, n - end);
    RingBlock block{RingRange{ring(pair), ring(end - 1) + 1}, RingRange{}};
    if (mirrors < n - pair) block[1] = {ring(mirrors), ring(n - 1 - pair) + 1};
    blocks.push_back(block);
    rings_per_block = 2 * run;
    pair = end;
  }
}

void RingPlan::move_urgent_ahead(std::span<const RingRange> urgent) {
  const auto is_urgent = [&](RingRange range) {
    return std::any_of(urgent.begin(), urgent.end(),
                       [&](RingRange some) { return !intersection(some, range).empty(); });
  };
  const auto other_runs = std::stable_partition(
      lane_runs.begin(), lane_runs.end(), [&](const LaneRun& run) { return is_urgent(run.rings); });
  const auto other_blocks = std::stable_partition(
      blocks.begin(), blocks.end(),
      [&](const RingBlock& block) { return is_urgent(block[0]) || is_urgent(block[1]); });
  n_urgent_lane_runs = other_runs - lane_runs.begin();
  n_urgent_blocks = other_blocks - blocks.begin();
}

std::int64_t RingPlan::bytes() const {
  return powers.bytes() + column_plan_.bytes() + held_bytes(lengths, rings, blocks, lane_runs);
}

}  // namespace ringweave::detail::inline fft
