// SPDX-License-Identifier: GPL-3.0-or-later
#include "convolve/host/mode_samples.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "base/first_error.hpp"
#include "convolve/host/kernel_values.hpp"
#include "convolve/ring_pair.hpp"
#include "distribute/halo_plan.hpp"

namespace ringweave {
namespace {

/// Samples held at a time, in doubles.
constexpr std::int64_t most_held = std::int64_t{8} << 20;

/// Samples within a half width; the last may be on the edge, where the kernel decides.
std::int64_t count_samples(double half_width, std::int64_t around, std::int64_t half) {
  constexpr double generous = 1e-9;
  const double width = half_width / (2 * std::numbers::pi) * static_cast<double>(around) + generous;
  const double last = std::floor(half == 1 ? width - 0.5 : width);
  const std::int64_t most = half == 1 ? (around + 1) / 2 : around / 2 + 1;
  return std::min(static_cast<std::int64_t>(last) + 1, most);
}

}  // namespace

ModeSamples::ModeSamples(const RingConvolutionPlan& plan, const KernelMaps& maps)
    : plan_(&plan), maps_(maps) {
  const std::int64_t zone = plan.modes().zone.size();
  const std::int64_t n_first = plan.is_symmetric() ? (zone + 1) / 2 : zone;
  for (std::int64_t u = 0; u < n_first; ++u) add_pairs(u);
  if (!pairs_.empty()) first_ring_ = pairs_.front().tile.ring;
  for (ModePairs& pairs : pairs_) {
    const std::int64_t last =
        pairs.tile.ring + pairs.tile.first + pairs.n_partners * pairs.tile.step;
    n_rings_ = std::max(n_rings_, last - first_ring_);
    pairs.tile.ring -= first_ring_;
  }
  for (const std::int64_t around : rules_) {
    auto& sin2_half = sin2_half_.emplace_back();
    const double unit = std::numbers::pi / (2 * static_cast<double>(around));
    for (std::int64_t h = 0; h <= std::min(around, 2 * most_samples_); ++h)
      sin2_half.push_back(RingPairChord::square(std::sin(unit * static_cast<double>(h))));
  }
  cut_parts();
}

void ModeSamples::add_pairs(std::int64_t ring) {
  const ModeRows& modes = plan_->modes();
  const RingGrid& grid = plan_->grid();
  const std::int64_t t0 = modes.zone.begin + ring;
  const RingRange near = intersection(rings_within(grid, {t0, t0 + 1}, maps_.support), modes.zone);
  // A pair and its mirror image are one.
  const std::int64_t last =
      plan_->is_symmetric() ? modes.zone.size() - 1 - 2 * ring : modes.zone.size() - 1 - ring;
  const std::int64_t behind = std::min(near.end - t0, last + 1);
  const std::int64_t around = modes.samples(t0);
  if (rules_.empty() || rules_.back() != around) {
    const auto found = std::find(rules_.begin(), rules_.end(), around);
    if (found == rules_.end()) rules_.push_back(around);
  }
  const auto rule = std::find(rules_.begin(), rules_.end(), around) - rules_.begin();
  const bool alternates = modes.kind == ModeRows::Kind::circulant && plan_->equal_run().alternates;
  const std::int64_t step = alternates ? 2 : 1;
  for (std::int64_t phase = 0; phase < step; ++phase) {
    for (std::int64_t first = phase; first < behind; first += step * mode_sum::pairs) {
      ModePairs pairs;
      pairs.half = phase;
      pairs.rule = rule;
      for (std::int64_t d = first; d < behind && pairs.n_partners < mode_sum::pairs; d += step) {
        const double width = RingPairChord(grid.ring(RingId{t0}), grid.ring(RingId{t0 + d}))
                                 .half_width(maps_.kernel->chord_squared_cut);
        if (width < 0) break;
        ++pairs.n_partners;
        pairs.limit = std::max(pairs.limit, std::min(modes.limit(t0), modes.limit(t0 + d)));
        pairs.tile.n_samples =
            std::max(pairs.tile.n_samples, count_samples(width, around, pairs.half));
      }
      pairs.tile.ring = ring;
      pairs.tile.first = first;
      pairs.tile.step = step;
      most_samples_ = std::max(most_samples_, pairs.tile.n_samples);
      const RingRange reached{t0 + first, t0 + first + (pairs.n_partners - 1) * step + 1};
      if (pairs.n_partners > 0 && (owns({t0, t0 + 1}) || owns(reached))) pairs_.push_back(pairs);
    }
  }
}

bool ModeSamples::owns(RingRange rings) const {
  const auto bands = plan_->own().bands();
  return std::any_of(bands.begin(), bands.end(), [&](const RingBand& band) {
    return !intersection(rings, band.rings).empty();
  });
}

void ModeSamples::cut_parts() {
  std::int64_t held = 0;
  std::int64_t largest = 0;
  for (std::int64_t i = 0; i < ssize64(pairs_); ++i) {
    const std::int64_t size = pairs_[to_size(i)].tile.n_samples * mode_sum::pairs;
    if (held > 0 && held + size > most_held) {
      part_ends_.push_back(i);
      held = 0;
    }
    offsets_.push_back(held);
    held += size;
    largest = std::max(largest, held);
  }
  part_ends_.push_back(ssize64(pairs_));
  samples_.allocate(largest);
}

void ModeSamples::make(std::int64_t part) {
  const Range range = this->part(part);
  FirstError error;
#pragma omp parallel for schedule(dynamic, 16)
  for (std::int64_t i = range.begin; i < range.end; ++i) {
    error.guard([&] { fill(pairs_[to_size(i)], samples_.data() + offsets_[to_size(i)]); });
  }
  error.rethrow();
}

void ModeSamples::fill(ModePairs& pairs, double* samples) const {
  const RingGrid& grid = plan_->grid();
  const RingRange zone = plan_->modes().zone;
  const std::int64_t around = rules_[to_size(pairs.rule)];
  const std::vector<double>& sin2_half = sin2_half_[to_size(pairs.rule)];
  const std::int64_t n_samples = pairs.tile.n_samples;
  pairs.tile.samples = samples;
  std::array<double, mode_sum::pairs> gap{};
  std::array<double, mode_sum::pairs> span{};
  std::array<double, mode_sum::pairs> factor{};
  for (std::size_t p = 0; p < to_size(pairs.n_partners); ++p) {
    const std::int64_t d = pairs.tile.first + static_cast<std::int64_t>(p) * pairs.tile.step;
    const std::int64_t ring = zone.begin + first_ring_ + pairs.tile.ring;
    const RingPairChord chord(grid.ring(RingId{ring}), grid.ring(RingId{ring + d}));
    gap[p] = chord.gap;
    span[p] = chord.span;
    // A pair that is its own mirror image is met twice.
    const bool is_twice =
        plan_->is_symmetric() && 2 * (first_ring_ + pairs.tile.ring) + d == zone.size() - 1;
    factor[p] = (is_twice ? 0.5 : 1.0) / static_cast<double>(around);
  }
  for (std::int64_t j = 0; j < n_samples; ++j) {
    const double sin2 = sin2_half[to_size(2 * j + pairs.half)];
    for (std::size_t p = 0; p < gap.size(); ++p)
      samples[j * mode_sum::pairs + static_cast<std::int64_t>(p)] = gap[p] + span[p] * sin2;
  }
  evaluate(*maps_.kernel, samples, n_samples * mode_sum::pairs, samples);
  for (std::int64_t j = 0; j < n_samples; ++j) {
    // All samples but those at 0 and pi stand for two.
    const std::int64_t halves = 2 * j + pairs.half;
    const double count = halves == 0 || halves == around ? 1 : 2;
    for (std::size_t p = 0; p < gap.size(); ++p)
      samples[j * mode_sum::pairs + static_cast<std::int64_t>(p)] *= count * factor[p];
  }
}

}  // namespace ringweave
