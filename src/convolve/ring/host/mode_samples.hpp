// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "convolve/ring/host/mode_sum.hpp"
#include "convolve/ring/ring_convolution_plan.hpp"
#include "convolve/ring/ring_source.hpp"
#include "sphere/kernel/kernel_table.hpp"

namespace ringweave::detail::inline convolve {

/// Pairs of one output ring with other rings whose kernel is sampled at the same longitudes. Rings
/// are numbered from the zone's first.
struct ModePairs {
  std::int32_t ring = 0;
  std::int32_t first = 0;       ///< distance of the first partner
  std::int32_t n_partners = 0;  ///< every step()th ring
  std::int32_t n_samples = 0;
  std::int32_t half = 0;    ///< whether samples are shifted by half a sample
  std::int32_t rule = 0;    ///< index of the number of samples around a ring
  std::int32_t limit = 0;   ///< highest order of any of the pairs
  bool by_fft = false;      ///< whether their rows are made by FFT
  std::int64_t offset = 0;  ///< of its samples within its part

  /// Returns the doubles of a real kernel's samples.
  std::int64_t size() const { return n_samples * mode_sum::pairs; }
};

/// The kernel along phi between all pairs of rings with modes of which the rank owns at least one,
/// each once: a pair stands for its transpose and, on a symmetric grid, for its mirror images.
/// Pairs ascend with their ring and are processed in parts whose samples fit the memory reserved
/// for them.
class ModeSamples {
 public:
  /// Some consecutive pairs, and the rings they touch; no later part touches rings before
  /// next_ring.
  struct Part {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::int64_t first_ring = 0;  ///< of the zone
    std::int64_t next_ring = 0;   ///< first_ring of the next part
    std::int64_t reach = 0;       ///< end of the rings touched by this part or an earlier one
    std::int64_t n_shared = 0;    ///< rings from next_ring on that later parts touch too
  };

  /// Finds the pairs for the plan's largest support; computes no samples yet.
  /// room        upper limit for the samples of a part
  /// part_rings  most rings of a part, exceeded only where their window is wider
  ModeSamples(const RingConvolutionPlan& plan, std::int64_t room, std::int64_t part_rings);

  const std::vector<ModePairs>& pairs() const { return pairs_; }
  const std::vector<Part>& parts() const { return parts_; }
  std::int64_t step() const { return step_; }
  /// Different numbers of samples around a ring.
  const std::vector<std::int64_t>& rules() const { return rules_; }
  /// Most samples of a rule and a half-step, for rows by sums and for rows by FFT.
  std::int64_t most_summed() const { return most_summed_; }
  std::int64_t most_transformed() const { return most_transformed_; }
  /// Most samples of a half-step of one rule, for either kind of row.
  std::int64_t most_samples(std::int64_t rule) const {
    return most_samples_of_rule_[static_cast<std::size_t>(rule)];
  }
  std::int64_t size() const { return size_; }  ///< samples of the largest part
  /// Most rings a part touches, and most it shares with later parts.
  std::int64_t most_rings() const { return most_rings_; }
  std::int64_t most_shared_rings() const { return most_shared_rings_; }
  std::int64_t bytes() const;

  /// Computes the samples of a part, [pair][sample][partner], with n_threads threads; for spin
  /// [pair][re, im][sample][partner].
  void make(const Part& part, const KernelTable& kernel, int n_threads, double* samples) const;

 private:
  void add_pairs(std::int64_t ring, double chord);
  /// Finds partners, limit, rule and samples from `first` on.
  void choose_rule(ModePairs& pairs, std::int64_t behind, double chord);
  std::int32_t rule_of(std::int64_t around);
  bool owns(RingRange rings) const;  ///< whether any ring of the zone is owned
  void cut_parts(std::int64_t room, std::int64_t part_rings);
  void sort_parts();
  void fill(const ModePairs& pairs, const KernelTable& kernel, double* samples) const;
  /// Makes samples of K / cos(theta / 2)^2s those of a kernel of spin.
  void turn(const ModePairs& pairs, double* samples) const;

  const RingConvolutionPlan* plan_;
  std::int64_t step_;
  std::vector<ModePairs> pairs_;
  std::vector<Part> parts_;
  std::vector<std::int64_t> rules_;
  std::vector<std::vector<double>> sin2_half_;  ///< [rule][h] sin^2(pi h / (2 around))
  std::vector<std::vector<double>> sine_;       ///< [rule][h] sin(pi h / around), for spin
  std::vector<std::int64_t> most_samples_of_rule_;
  std::int64_t most_summed_ = 0;
  std::int64_t most_transformed_ = 0;
  std::int64_t size_ = 0;
  std::int64_t most_rings_ = 0;
  std::int64_t most_shared_rings_ = 0;
};

}  // namespace ringweave::detail::inline convolve
