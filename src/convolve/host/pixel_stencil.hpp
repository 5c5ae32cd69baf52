// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "convolve/host/ring_source.hpp"
#include "convolve/host/stencil_sum.hpp"
#include "convolve/ring_convolution_plan.hpp"

namespace ringweave {

/// The sums among rings of one length: every pixel of a ring has the same neighbours, so one weight
/// for a pair of rings and a shift along phi serves the whole ring.
class PixelStencil {
 public:
  /// Keeps a reference to the plan.
  explicit PixelStencil(const RingConvolutionPlan& plan);

  bool empty() const { return blocks_.empty(); }
  /// Writes the sums over the equal run for the own rings of that run.
  template <class T>
  void convolve(const KernelMaps& maps, const RingSource<T>& in, MapView<T> out) const;

 private:
  /// Output rings taken together; -1: none.
  using Block = std::array<std::int64_t, stencil::rings_together>;
  template <class T, class A>
  class Worker;

  template <class T, class A>
  void convolve_with(const KernelMaps& maps, const RingSource<T>& in, MapView<T> out) const;
  void cut(RingRange rings);
  const RingConvolutionPlan* plan_;
  std::int64_t n_phi_ = 0;
  std::vector<Block> blocks_;
  /// [2 d + half] sin^2(phi / 2) at d pixels (and a half), where the run is regular.
  std::vector<double> sin2_half_;
};

}  // namespace ringweave
