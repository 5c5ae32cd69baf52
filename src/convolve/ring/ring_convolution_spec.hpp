// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/backend.hpp"
#include "sphere/kernel/radial_kernel.hpp"
#include "sphere/ring_grid.hpp"

namespace ringweave {

/// What a convolution equals.
enum class ConvolutionMode {
  exact,  ///< the sum over pixels
  plain   ///< the paper's basic algorithm: every ring keeps the modes up to its own Nyquist
};

/// How the sum is formed; `automatic` takes what the plan predicts to be fastest.
enum class ConvolutionPath {
  automatic,
  pixels,      ///< sums over pixels everywhere
  modes,       ///< products of ring modes everywhere; needs a kernel without high degrees
  modes_equal  ///< products of modes among the rings of one length, sums over pixels elsewhere
};

/// How the rows of a kernel's modes are made; `automatic` takes for every group of pairs of rings
/// what the plan predicts to be faster.
enum class KernelRows {
  automatic,
  sums,  ///< cosine sums over the kernel's samples
  fft    ///< FFTs wherever the number of samples around a ring has factors for them
};

/// What a user asks of a convolution; the same on every rank.
struct RingConvolutionSpec {
  std::shared_ptr<const RingGrid> grid;
  /// One for all maps, or one for each map.
  std::vector<RadialKernel> kernels;
  std::int64_t n_maps = 1;
  ConvolutionMode mode = ConvolutionMode::exact;
  ConvolutionPath path = ConvolutionPath::automatic;
  KernelRows rows = KernelRows::automatic;
  /// Error allowed in the sum, relative to its rms; 0: rounding. What the kernel's own truncation
  /// leaves out is not part of it.
  double error = 0;
  /// Degrees of the kernels above this one need not count, whatever they are worth for white maps;
  /// 0: all that the error does not cover count.
  int highest_degree = 0;
  /// Of the maps, for which memory is planned. Maps of a longer type are refused.
  std::int64_t bytes_per_pixel = sizeof(double);
  Backend backend = Backend::host;
};

}  // namespace ringweave
