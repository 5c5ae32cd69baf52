// SPDX-License-Identifier: GPL-3.0-or-later
#include "fft/cuda/device_ring_plan.hpp"

#include <algorithm>
#include <complex>
#include <numbers>

#include "base/checked_cast.hpp"
#include "fft/cuda/mode_tile_launches.hpp"
#include "fft/device_ring_fft.hpp"
#include "fft/ring_modes.hpp"

namespace ringweave::detail::gpu {
namespace {

// With fewer rings of one length an FFT plan of their own does not pay.
constexpr std::int64_t fewest_rings_of_length = 8;
// Few rings could do with less; padding them is cheaper than separate launches.
constexpr std::int64_t shortest_chirp_row = 512;
constexpr std::int64_t value_bytes = sizeof(Double2);

/// The largest prime of a length that cuFFT transforms directly. For other lengths it uses a chirp
/// transform of its own, whose memory is unknown without a device.
constexpr std::int64_t largest_cufft_prime = 127;

bool is_for_cufft(std::int64_t length) {
  if (length < 2) return false;
  for (std::int64_t factor = 2; factor <= largest_cufft_prime; ++factor) {
    while (length % factor == 0) length /= factor;
  }
  return length == 1;
}

/// Divides n into the fewest parts of at most `most`, with sizes that differ by at most one.
std::vector<std::int64_t> even_parts(std::int64_t n, std::int64_t most) {
  const std::int64_t n_parts = (n + most - 1) / most;
  std::vector<std::int64_t> parts;
  for (std::int64_t i = 0; i < n_parts; ++i) parts.push_back(n / n_parts + (i < n % n_parts));
  return parts;
}

std::int64_t rings_that_fit(std::int64_t workspace_bytes, std::int64_t bytes_per_ring) {
  return std::max<std::int64_t>(1, workspace_bytes / bytes_per_ring);
}

void describe(RingBatch& batch, const std::vector<PlannedRing>& rings) {
  batch.first_pixel = rings[to_size(batch.first_ring)].first_pixel;
  for (std::int64_t i = 0; i < batch.n_rings; ++i) {
    const PlannedRing& ring = rings[to_size(batch.first_ring + i)];
    batch.longest = std::max(batch.longest, ring.n_complex);
    batch.most_bins = std::max(batch.most_bins, ModeTiles::bin_count(ring.n_phi));
  }
}

}  // namespace

std::int64_t chirp_row_length(std::int64_t n) {
  std::int64_t length = shortest_chirp_row;
  while (length < 2 * n - 1) {
    if (3 * length / 2 >= 2 * n - 1) return 3 * length / 2;
    length *= 2;
  }
  return length;
}

DeviceRingPlan::DeviceRingPlan(const RingFftShape& shape, std::int64_t workspace_bytes)
    : n_components(shape.n_components) {
  Rings planned = plan_rings(shape);
  list_orders(shape.rows, orders, segments);
  std::map<std::int64_t, std::int64_t> n_rings_of_length;
  for (const Ring& ring : shape.rings.grid().rings()) ++n_rings_of_length[ring.n_phi];
  std::map<std::int64_t, Rings> by_length;
  std::map<std::int64_t, Rings> by_row_length;
  for (const PlannedRing& ring : planned) {
    const bool has_company = n_rings_of_length[ring.n_phi] >= fewest_rings_of_length;
    if (has_company && is_for_cufft(ring.n_complex)) {
      by_length[ring.n_phi].push_back(ring);
    } else {
      by_row_length[chirp_row_length(ring.n_complex)].push_back(ring);
    }
  }
  for (auto& [length, of_length] : by_length) {
    add_plain_batches(of_length, workspace_bytes);
  }
  for (auto& [row_length, of_group] : by_row_length) {
    add_chirp_batches(row_length, std::move(of_group), workspace_bytes);
  }
}

DeviceRingPlan::Rings DeviceRingPlan::plan_rings(const RingFftShape& shape) {
  const std::vector<ModeCount> modes = modes_of_rings(shape);
  std::map<double, std::int64_t> most_modes;
  for (std::int64_t i = 0; i < shape.rings.n_rings(); ++i) {
    const double phi0 = shape.rings.ring(LocalRing{i}).phi0;
    if (phi0 == 0) continue;
    std::int64_t& most = most_modes[phi0];
    most = std::max(most, modes[to_size(i)].n_modes);
  }
  const auto add_table = [&](long double angle, std::int64_t count) {
    const std::int64_t first = n_factors_;
    tables.push_back({angle, count});
    n_factors_ += UnitPowers::n_factors(count);
    return first;
  };
  std::map<double, std::int64_t> phases;
  std::map<std::int64_t, std::int64_t> roots;
  Rings planned;
  for (std::int64_t i = 0; i < shape.rings.n_rings(); ++i) {
    const Ring& ring = shape.rings.ring(LocalRing{i});
    const std::int64_t n_complex = ring.n_phi % 2 == 0 ? ring.n_phi / 2 : ring.n_phi;
    if (ring.phi0 != 0 && !phases.contains(ring.phi0)) {
      phases[ring.phi0] = add_table(static_cast<long double>(ring.phi0), most_modes[ring.phi0]);
    }
    if (!roots.contains(n_complex)) {
      roots[n_complex] = add_table(
          std::numbers::pi_v<long double> / static_cast<long double>(n_complex), n_complex);
    }
    planned.push_back({index(shape.rings.global(LocalRing{i})), i,
                       shape.rings.first_pixel(LocalRing{i}), ring.n_phi, n_complex,
                       modes[to_size(i)].n_modes,
                       alias_count(ring.n_phi, modes[to_size(i)].n_modes),
                       ring.phi0 == 0 ? -1 : phases[ring.phi0], roots[n_complex], -1});
  }
  return planned;
}

void DeviceRingPlan::add_plain_batches(const Rings& of_length, std::int64_t workspace_bytes) {
  const std::int64_t length = of_length.front().n_complex;
  const std::int64_t most = rings_that_fit(workspace_bytes, length * n_components * value_bytes);
  std::int64_t next = 0;
  for (const std::int64_t n_rings : even_parts(ssize64(of_length), most)) {
    RingBatch batch;
    batch.first_ring = ssize64(rings);
    batch.n_rings = n_rings;
    batch.row_length = length;
    batch.rows_fft = fft_of({length, n_rings});
    batch.pixels_are_rows = of_length.front().n_phi % 2 == 0;
    rings.insert(rings.end(), of_length.begin() + next, of_length.begin() + next + n_rings);
    next += n_rings;
    for (std::int64_t i = 1; i < n_rings; ++i) {
      const PlannedRing& ring = rings[to_size(batch.first_ring + i)];
      const PlannedRing& previous = rings[to_size(batch.first_ring + i - 1)];
      if (ring.first_pixel != previous.first_pixel + previous.n_phi) batch.pixels_are_rows = false;
    }
    describe(batch, rings);
    workspace_values = std::max(workspace_values, n_rings * n_components * length);
    batches.push_back(batch);
  }
}

void DeviceRingPlan::add_chirp_batches(std::int64_t row_length, Rings of_group,
                                       std::int64_t workspace_bytes) {
  // Keep rings of one length together, because they share a chirp.
  std::stable_sort(of_group.begin(), of_group.end(),
                   [](const auto& a, const auto& b) { return a.n_complex < b.n_complex; });
  const std::int64_t most =
      rings_that_fit(workspace_bytes, row_length * (n_components + 1) * value_bytes);
  std::int64_t next = 0;
  for (const std::int64_t n_rings : even_parts(ssize64(of_group), most)) {
    RingBatch batch;
    batch.first_ring = ssize64(rings);
    batch.n_rings = n_rings;
    batch.row_length = row_length;
    rings.insert(rings.end(), of_group.begin() + next, of_group.begin() + next + n_rings);
    next += n_rings;
    add_chirps(batch);
    describe(batch, rings);
    // The FFT has exactly this many rows: values left over in further rows would be passed on from
    // batch to batch.
    const std::int64_t n_rows = n_rings * n_components;
    batch.first_chirp_row = n_rows;
    batch.rows_fft = fft_of({row_length, n_rows});
    batch.chirps_fft = fft_of({row_length, batch.n_chirps});
    workspace_values = std::max(workspace_values, (n_rows + batch.n_chirps) * row_length);
    batches.push_back(batch);
  }
}

void DeviceRingPlan::add_chirps(RingBatch& batch) {
  batch.first_chirp = ssize64(chirp_lengths);
  const auto first = rings.begin() + batch.first_ring;
  for (auto ring = first; ring != rings.end(); ++ring) {
    if (ring == first || ring->n_complex != (ring - 1)->n_complex) {
      chirp_lengths.push_back({ring->n_complex, ring->roots});
    }
    ring->chirp = ssize64(chirp_lengths) - 1 - batch.first_chirp;
  }
  batch.n_chirps = ssize64(chirp_lengths) - batch.first_chirp;
  // Sort by ring, since the modes of neighbouring rings are contiguous.
  std::sort(first, rings.end(), [](const auto& a, const auto& b) { return a.local < b.local; });
}

std::int64_t DeviceRingPlan::fft_of(FftSize size) {
  const auto found = std::find(ffts.begin(), ffts.end(), size);
  if (found != ffts.end()) return found - ffts.begin();
  ffts.push_back(size);
  return ssize64(ffts) - 1;
}

std::int64_t DeviceRingPlan::table_bytes() const {
  return held_bytes(rings, chirp_lengths, orders, segments) + n_factors_ * value_bytes;
}

}  // namespace ringweave::detail::gpu

namespace ringweave::detail::inline fft {

std::int64_t device_ring_fft_bytes(const RingFftShape& shape, std::int64_t workspace_bytes) {
  const gpu::DeviceRingPlan plan(shape, workspace_bytes);
  return plan.table_bytes() + plan.workspace_bytes();
}

}  // namespace ringweave::detail::inline fft
