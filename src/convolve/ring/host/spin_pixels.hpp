// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "convolve/ring/ring_convolution_plan.hpp"
#include "convolve/ring/ring_source.hpp"

namespace ringweave::detail::inline convolve {

/// Computes the sums over pixels of fields of spin, or those of their conjugates. Rotations that
/// take both rings into themselves share the kernel's values: all pixels of a ring where both rings
/// have the same length, at least four in HEALPix's caps.
class SpinPixels {
 public:
  enum class Of {
    fields,     ///< among any two rings that are not summed by modes
    conjugates  ///< among all rings, with the kernels of the fields' conjugates
  };
  /// Keeps a reference to the plan.
  SpinPixels(const RingConvolutionPlan& plan, int n_threads, Of of);

  bool empty() const { return rings_.empty(); }
  std::int64_t scratch_size() const;  ///< doubles
  /// Writes the sums of own rings; adds them where a ring has modes too, and those of conjugates.
  /// maps     whole fields
  /// scratch  scratch_size() doubles
  template <class T>
  void convolve(const KernelMaps& maps, const RingSource<T>& in, MapView<T> out,
                double* scratch) const;

 private:
  struct Pieces;
  template <class T>
  class Worker;
  std::int64_t worker_size() const;

  const RingConvolutionPlan* plan_;
  int n_threads_;
  Of of_;
  std::int64_t n_maps_;              ///< with one kernel
  std::vector<std::int64_t> rings_;  ///< own rings with such sums
  std::int64_t longest_ = 0;
};

}  // namespace ringweave::detail::inline convolve
