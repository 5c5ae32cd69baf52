// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "convolve/host/ring_source.hpp"
#include "convolve/ring_convolution_plan.hpp"

namespace ringweave {

/// The sums among rings of different lengths (the polar caps of HEALPix). A kernel value serves all
/// pairs of pixels that the grid's symmetries (SectorRule) carry onto one another and all maps:
/// they lie side by side, one in each lane of a vector.
class PixelSectors {
 public:
  /// Keeps a reference to the plan.
  explicit PixelSectors(const RingConvolutionPlan& plan);

  bool empty() const { return rings_.empty(); }
  /// Adds the sums to the own rings that have modes or a stencil, and writes them to the others.
  template <class T>
  void convolve(const KernelMaps& maps, const RingSource<T>& in, MapView<T> out) const;

 private:
  template <class T>
  class Worker;

  const RingConvolutionPlan* plan_;
  std::vector<std::int64_t> rings_;  ///< output rings, ascending, one of each pair of mirrors
};

}  // namespace ringweave
