// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "convolve/ring/host/pair_profile.hpp"
#include "convolve/ring/host/sector_rows.hpp"
#include "convolve/ring/ring_convolution_plan.hpp"
#include "convolve/ring/ring_source.hpp"

namespace ringweave::detail::inline convolve {

/// Computes the sums among rings of different lengths (the polar caps of HEALPix). A kernel value
/// serves all maps and all pairs of pixels that the grid's symmetries (SectorRule) map onto one
/// another: one in each lane of a vector.
class PixelSectors {
 public:
  /// Keeps a reference to the plan. most_scratch  doubles scratch_size() should not exceed
  PixelSectors(const RingConvolutionPlan& plan, int n_threads, std::int64_t most_scratch);

  bool empty() const { return rings_.empty(); }
  std::int64_t scratch_size() const {
    return empty() ? 0 : n_threads_ * worker_size();
  }  ///< doubles
  /// Adds the sums to the own rings that have modes or a stencil, and writes them to the others.
  /// scratch  scratch_size() doubles
  template <class T>
  void convolve(const KernelMaps& maps, const RingSource<T>& in, MapView<T> out,
                double* scratch) const;

 private:
  struct Pieces;
  template <class T>
  class Worker;
  std::int64_t worker_size() const;  ///< doubles per thread

  const RingConvolutionPlan* plan_;
  int n_threads_;
  SectorRowShape shape_;
  std::vector<ProfileRule> rules_ = profile_rules();
  std::vector<double> narrowest_;    ///< [kernel] its narrowest_bump()
  std::int64_t n_slots_ = 0;         ///< input rings held at a time
  std::int64_t most_pixels_ = 0;     ///< most pixels of an output ring whose sums are held
  std::vector<std::int64_t> rings_;  ///< output rings, ascending, one of each pair of mirrors
};

}  // namespace ringweave::detail::inline convolve
