// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "base/buffer.hpp"
#include "convolve/host/mode_samples.hpp"
#include "convolve/host/ring_source.hpp"
#include "convolve/ring_convolution_plan.hpp"

namespace ringweave {

/// The product of kernel modes and ring modes: mode_m(t0) = sum_t K_m(t0, t) mode_m(t), in place.
/// K_m is a sum of kernel samples times cosines, for the kernel covers a small part of a ring.
class ModeProduct {
 public:
  /// Keeps a reference to the plan.
  explicit ModeProduct(const RingConvolutionPlan& plan);

  bool empty() const { return plan_->modes().zone.empty(); }
  /// modes  as plan.rows() lays them out, [position][map], times the weights of their rings
  void apply(const KernelMaps& maps, ModeView<double> modes) const;

 private:
  class Block;

  /// [2 around] cos(pi k / around).
  std::vector<double> cosine_table(std::int64_t around) const;
  const RingConvolutionPlan* plan_;
};

}  // namespace ringweave
