// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "convolve/ring/host/stencil_sum.hpp"
#include "convolve/ring/ring_convolution_plan.hpp"
#include "convolve/ring/ring_source.hpp"

namespace ringweave::detail::inline convolve {

/// Computes the sums among rings of one length: every pixel of a ring has the same neighbours, so
/// one weight per pair of rings and shift along phi serves the whole ring.
class PixelStencil {
 public:
  /// Keeps a reference to the plan.
  PixelStencil(const RingConvolutionPlan& plan, int n_threads);

  bool empty() const { return blocks_.empty(); }
  std::int64_t scratch_size() const;  ///< doubles
  /// Writes the sums over the equal run for the own rings of that run.
  /// scratch  scratch_size() doubles
  template <class T>
  void convolve(const KernelMaps& maps, const RingSource<T>& in, MapView<T> out,
                double* scratch) const;

 private:
  /// Output rings processed together; -1: none.
  using Block = std::array<std::int64_t, stencil::rings_together>;
  /// Capacity of a thread: input rings processed together, their taps, and the pixels they extend
  /// beyond an output's on both sides together.
  struct Room {
    std::int64_t rings = 0;
    std::int64_t taps = 0;  ///< per ring
    std::int64_t reach = 0;
    bool takes_all = false;  ///< whether all input rings of a block are processed at once
  };
  template <class A>
  struct Pieces;
  template <class T, class A>
  class Worker;

  template <class T, class A>
  void convolve_with(const KernelMaps& maps, const RingSource<T>& in, MapView<T> out,
                     double* scratch) const;
  void cut(RingRange rings);
  void find_room();
  template <class A>
  std::int64_t worker_size() const;
  const RingConvolutionPlan* plan_;
  int n_threads_;
  std::int64_t n_phi_ = 0;
  std::vector<Block> blocks_;
  Room room_;
  /// [2 d + half] sin^2(phi / 2) at d pixels (and a half), where the run is regular.
  std::vector<double> sin2_half_;
};

}  // namespace ringweave::detail::inline convolve
