// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "base/buffer.hpp"
#include "convolve/host/mode_sum.hpp"
#include "convolve/host/ring_source.hpp"
#include "convolve/ring_convolution_plan.hpp"

namespace ringweave {

/// Pairs of rings of one output ring whose kernel is sampled at the same longitudes.
struct ModePairs {
  mode_sum::Tile tile;    ///< rings count from ModeSamples::first_ring()
  std::int64_t half = 0;  ///< samples lie half a sample further on
  std::int64_t rule = 0;  ///< which cosines
  int limit = 0;          ///< highest order any of the pairs has
  std::int64_t n_partners = 0;
};

/// The kernel along phi between all pairs of rings with modes of which the rank owns one, each
/// once: a pair stands for its transpose and, on a symmetric grid, for its mirror images.
class ModeSamples {
 public:
  /// Finds the pairs; the samples are not made yet.
  ModeSamples(const RingConvolutionPlan& plan, const KernelMaps& maps);

  /// First of the zone's rings that is in a pair, and how many lie from there to the last.
  std::int64_t first_ring() const { return first_ring_; }
  std::int64_t n_rings() const { return n_rings_; }
  const std::vector<ModePairs>& pairs() const { return pairs_; }
  /// Different numbers of samples around a ring, for which cosines are needed.
  const std::vector<std::int64_t>& rules() const { return rules_; }
  /// Most samples of a rule and a half-step.
  std::int64_t most_samples() const { return most_samples_; }
  /// Runs of pairs whose samples fit the memory set aside for them.
  std::int64_t n_parts() const { return ssize64(part_ends_); }
  struct Range {
    std::int64_t begin;
    std::int64_t end;
  };
  Range part(std::int64_t i) const {
    return {i == 0 ? 0 : part_ends_[to_size(i - 1)], part_ends_[to_size(i)]};
  }
  /// Makes the samples of a part; those of other parts are lost.
  void make(std::int64_t part);

 private:
  void add_pairs(std::int64_t ring);
  bool owns(RingRange rings) const;  ///< any of the zone's rings
  void cut_parts();
  void fill(ModePairs& pairs, double* samples) const;

  const RingConvolutionPlan* plan_;
  KernelMaps maps_;
  std::int64_t first_ring_ = 0;
  std::int64_t n_rings_ = 0;
  std::int64_t most_samples_ = 0;
  std::vector<ModePairs> pairs_;
  std::vector<std::int64_t> offsets_;  ///< [pairs] where its samples begin in its part
  std::vector<std::int64_t> rules_;
  std::vector<std::vector<double>> sin2_half_;  ///< [rule][h] sin^2(pi h / (2 around))
  std::vector<std::int64_t> part_ends_;
  HostBuffer<double> samples_;
};

}  // namespace ringweave
