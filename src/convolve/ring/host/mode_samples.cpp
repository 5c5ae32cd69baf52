// SPDX-License-Identifier: GPL-3.0-or-later
#include "convolve/ring/host/mode_samples.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "base/checked_cast.hpp"
#include "base/first_error.hpp"
#include "convolve/ring/host/kernel_values.hpp"
#include "convolve/ring/ring_pair.hpp"
#include "sphere/kernel/kernel_table.hpp"

namespace ringweave::detail::inline convolve {
ModeSamples::ModeSamples(const RingConvolutionPlan& plan, std::int64_t room,
                         std::int64_t part_rings)
    : plan_(&plan),
      step_(plan.modes().kind == ModeRows::Kind::circulant && plan.equal_run().alternates ? 2 : 1) {
  const double chord = plan.widest_chord();
  const std::int64_t zone = plan.modes().zone.size();
  const std::int64_t n_first = plan.is_symmetric() ? (zone + 1) / 2 : zone;
  for (std::int64_t u = 0; u < n_first; ++u) add_pairs(u, chord);
  for (const std::int64_t around : rules_) {
    auto& sin2_half = sin2_half_.emplace_back();
    const double unit = std::numbers::pi / (2 * static_cast<double>(around));
    const std::int64_t most = std::max(most_summed_, most_transformed_);
    for (std::int64_t h = 0; h <= std::min(around, 2 * most); ++h)
      sin2_half.push_back(RingPairChord::square(std::sin(unit * static_cast<double>(h))));
    if (plan.spin() == 0) continue;
    auto& sine = sine_.emplace_back();
    for (std::int64_t h = 0; h < ssize64(sin2_half); ++h)
      sine.push_back(h == around ? 0 : std::sin(2 * unit * static_cast<double>(h)));
  }
  cut_parts(room, part_rings);
}

void ModeSamples::add_pairs(std::int64_t ring, double chord) {
  const ModeRows& modes = plan_->modes();
  const std::int64_t t0 = modes.zone.begin + ring;
  const RingRange near = intersection(plan_->window(t0), modes.zone);
  if (!owns({t0, near.end})) return;
  // A pair and its mirror image are stored once.
  const std::int64_t last =
      plan_->is_symmetric() ? modes.zone.size() - 1 - 2 * ring : modes.zone.size() - 1 - ring;
  const std::int64_t behind = std::min(near.end - t0, last + 1);
  ModePairs pairs;
  pairs.ring = checked_cast<std::int32_t>(ring, "ring");
  for (std::int64_t phase = 0; phase < step_; ++phase) {
    pairs.half = static_cast<std::int32_t>(phase);
    for (std::int64_t first = phase; first < behind; first += step_ * mode_sum::pairs) {
      pairs.first = static_cast<std::int32_t>(first);
      choose_rule(pairs, behind, chord);
      const RingRange reached{t0 + first, t0 + first + (pairs.n_partners - 1) * step_ + 1};
      if (pairs.n_partners == 0 || !(owns({t0, t0 + 1}) || owns(reached))) continue;
      std::int64_t& most = pairs.by_fft ? most_transformed_ : most_summed_;
      most = std::max<std::int64_t>(most, pairs.n_samples);
      std::int64_t& most_of_rule = most_samples_of_rule_[to_size(pairs.rule)];
      most_of_rule = std::max<std::int64_t>(most_of_rule, pairs.n_samples);
      pairs_.push_back(pairs);
    }
  }
}

void ModeSamples::choose_rule(ModePairs& pairs, std::int64_t behind, double chord) {
  const ModeRows& modes = plan_->modes();
  const RingGrid& grid = plan_->grid();
  const std::int64_t t0 = modes.zone.begin + pairs.ring;
  const std::int64_t around = modes.samples(t0);
  std::int64_t n_summed = 0;
  std::int64_t n_transformed = 0;
  pairs.limit = pairs.n_partners = 0;
  for (std::int64_t d = pairs.first; d < behind && pairs.n_partners < mode_sum::pairs; d += step_) {
    const double width =
        RingPairChord(grid.ring(RingId{t0}), grid.ring(RingId{t0 + d})).half_width(chord);
    if (width < 0) break;
    ++pairs.n_partners;
    pairs.limit = std::max(pairs.limit, std::min(modes.limit(t0), modes.limit(t0 + d)));
    n_summed = std::max(n_summed, count_samples(width, around, pairs.half));
    n_transformed =
        std::max(n_transformed, count_samples(width, modes.row_fft.samples, pairs.half));
  }
  pairs.by_fft = plan_->makes_rows_by_fft(n_summed, n_transformed, pairs.limit);
  pairs.rule = rule_of(pairs.by_fft ? modes.row_fft.samples : around);
  pairs.n_samples =
      checked_cast<std::int32_t>(pairs.by_fft ? n_transformed : n_summed, "samples along a ring");
}

std::int32_t ModeSamples::rule_of(std::int64_t around) {
  auto rule = std::find(rules_.begin(), rules_.end(), around);
  if (rule == rules_.end()) {
    rule = rules_.insert(rule, around);
    most_samples_of_rule_.push_back(0);
  }
  return static_cast<std::int32_t>(rule - rules_.begin());
}

bool ModeSamples::owns(RingRange rings) const {
  const auto bands = plan_->own().bands();
  return std::any_of(bands.begin(), bands.end(), [&](const RingBand& band) {
    return !intersection(rings, band.rings).empty();
  });
}

void ModeSamples::cut_parts(std::int64_t room, std::int64_t part_rings) {
  // Fits the L2 cache, or is large enough that a part's cosines are cheap compared with its sums.
  constexpr std::int64_t cached = std::int64_t{1} << 17;
  constexpr std::int64_t tiles = 64;
  const bool has_fft = plan_->modes().row_fft.exists();
  const std::int64_t most_held =
      has_fft ? room : std::min(std::max(cached, tiles * mode_sum::pairs * most_summed_), room);
  // A part also reads rings its neighbours read, which pays only if it has more of its own.
  const auto window = [&](std::int64_t ring) {
    return plan_->window(plan_->modes().zone.begin + ring).size() / 2;
  };
  std::int64_t held = 0;
  std::int64_t most_rings = 0;
  for (std::int64_t i = 0; i < ssize64(pairs_); ++i) {
    ModePairs& pairs = pairs_[to_size(i)];
    const std::int64_t size = pairs.size() * plan_->maps_of_field();
    if (i == 0 || held + size > most_held || pairs.ring - parts_.back().first_ring >= most_rings) {
      if (i > 0) {
        parts_.back().end = i;
        parts_.back().next_ring = pairs.ring;
      }
      parts_.push_back({i, 0, pairs.ring, 0, i > 0 ? parts_.back().reach : 0, 0});
      most_rings = std::max(part_rings, window(pairs.ring));
      held = 0;
    }
    pairs.offset = held;
    held += size;
    size_ = std::max(size_, held);
    std::int64_t& reach = parts_.back().reach;
    reach = std::max<std::int64_t>(reach,
                                   pairs.ring + pairs.first + (pairs.n_partners - 1) * step_ + 1);
  }
  if (parts_.empty()) return;
  parts_.back().end = ssize64(pairs_);
  parts_.back().next_ring = pairs_.back().ring + 1;
  for (Part& part : parts_) {
    part.n_shared =
        part.end < ssize64(pairs_) ? std::max<std::int64_t>(0, part.reach - part.next_ring) : 0;
    most_rings_ = std::max(most_rings_, part.reach - part.first_ring);
    most_shared_rings_ = std::max(most_shared_rings_, part.n_shared);
  }
  if (has_fft) sort_parts();
}

/// Sorts pairs so that consecutive ones share partners with many orders.
void ModeSamples::sort_parts() {
  const std::int64_t together = step_ * mode_sum::pairs;
  const auto place = [&](const ModePairs& pairs) {
    return std::array<std::int64_t, 3>{pairs.first / together, pairs.ring, pairs.half};
  };
  for (const Part& part : parts_) {
    std::sort(pairs_.begin() + part.begin, pairs_.begin() + part.end,
              [&](const ModePairs& a, const ModePairs& b) { return place(a) < place(b); });
  }
}

std::int64_t ModeSamples::bytes() const {
  std::int64_t sum = held_bytes(pairs_);
  for (const auto& table : sin2_half_) sum += held_bytes(table);
  for (const auto& table : sine_) sum += held_bytes(table);
  return sum;
}

void ModeSamples::make(const Part& part, const KernelTable& kernel, int n_threads,
                       double* samples) const {
  FirstError error;
#pragma omp parallel for schedule(dynamic, 16) num_threads(n_threads)
  for (std::int64_t i = part.begin; i < part.end; ++i) {
    const ModePairs& pairs = pairs_[to_size(i)];
    error.guard([&] { fill(pairs, kernel, samples + pairs.offset); });
  }
  error.rethrow();
}

void ModeSamples::fill(const ModePairs& pairs, const KernelTable& kernel, double* samples) const {
  const RingGrid& grid = plan_->grid();
  const RingRange zone = plan_->modes().zone;
  const std::int64_t around = rules_[to_size(pairs.rule)];
  const std::vector<double>& sin2_half = sin2_half_[to_size(pairs.rule)];
  const std::int64_t n_samples = pairs.n_samples;
  std::array<double, mode_sum::pairs> gap{};
  std::array<double, mode_sum::pairs> span{};
  std::array<double, mode_sum::pairs> factor{};
  for (std::size_t p = 0; p < to_size(pairs.n_partners); ++p) {
    const std::int64_t d = pairs.first + static_cast<std::int64_t>(p) * step_;
    const std::int64_t ring = zone.begin + pairs.ring;
    const RingPairChord chord(grid.ring(RingId{ring}), grid.ring(RingId{ring + d}));
    gap[p] = chord.gap;
    span[p] = chord.span;
    // A pair that is its own mirror image would count twice.
    const bool is_twice =
        plan_->is_symmetric() && 2 * std::int64_t{pairs.ring} + d == zone.size() - 1;
    factor[p] = (is_twice ? 0.5 : 1.0) / static_cast<double>(around);
  }
  for (std::int64_t j = 0; j < n_samples; ++j) {
    const double sin2 = sin2_half[to_size(2 * j + pairs.half)];
    for (std::size_t p = 0; p < gap.size(); ++p)
      samples[j * mode_sum::pairs + static_cast<std::int64_t>(p)] = gap[p] + span[p] * sin2;
  }
  evaluate(kernel, samples, n_samples * mode_sum::pairs, samples);
  for (std::int64_t j = 0; j < n_samples; ++j) {
    // All samples except those at 0 and pi stand for two.
    const std::int64_t halves = 2 * j + pairs.half;
    const double count = halves == 0 || halves == around ? 1 : 2;
    for (std::size_t p = 0; p < gap.size(); ++p)
      samples[j * mode_sum::pairs + static_cast<std::int64_t>(p)] *= count * factor[p];
  }
  if (plan_->spin() > 0) turn(pairs, samples);
}

void ModeSamples::turn(const ModePairs& pairs, double* samples) const {
  const RingGrid& grid = plan_->grid();
  const std::int64_t ring = plan_->modes().zone.begin + pairs.ring;
  const std::vector<double>& sin2_half = sin2_half_[to_size(pairs.rule)];
  const std::vector<double>& sine = sine_[to_size(pairs.rule)];
  double* re = samples;
  double* im = samples + pairs.size();
  for (std::int64_t p = 0; p < pairs.n_partners; ++p) {
    const RingId partner{ring + pairs.first + p * step_};
    const auto transport = RingPairTransport::of(grid.ring(RingId{ring}), grid.ring(partner));
    for (std::int64_t j = 0; j < pairs.n_samples; ++j) {
      const std::size_t h = to_size(2 * j + pairs.half);
      const auto factor = transport.factor(sin2_half[h], sine[h], plan_->spin());
      double& value = re[j * mode_sum::pairs + p];
      im[j * mode_sum::pairs + p] = factor.im * value;
      value *= factor.re;
    }
  }
  // Tiles that are not full have rows for these too.
  for (std::int64_t p = pairs.n_partners; p < mode_sum::pairs; ++p) {
    for (std::int64_t j = 0; j < pairs.n_samples; ++j) im[j * mode_sum::pairs + p] = 0;
  }
}

}  // namespace ringweave::detail::inline convolve
