// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "convolve/ring/ring_convolution_cost.hpp"

namespace ringweave::detail::inline convolve {

/// Number of orders that are multiplied together, one per lane.
inline constexpr std::int64_t orders_together = 16;

/// The short FFTs that compute a row of kernel modes, K_m = sum_j k_j cos(2 pi m j / samples): the
/// orders m = stride k + s of a class s are an FFT of `points` points over k, after the samples
/// times exp(2 pi i s j / samples) have been added up modulo `points`. Orders of class stride - s
/// are those of class s read from samples - m, so half of the classes suffice. A kernel that covers
/// little of a ring has few samples to add up.
///
/// From  Cooley and Tukey (1965), Math. Comput. 19, 297; the pruning: Markel (1971), IEEE Trans.
///       Audio Electroacoust. 19, 305
struct RowFft {
  std::int64_t samples = 0;  ///< around a ring; 0: no row is made by FFT
  std::int64_t points = 1;
  /// Number of times that the samples are computed, given how many groups of orders fit in memory.
  double n_passes = 1;

  bool exists() const { return samples > 0; }
  std::int64_t stride() const { return samples / points; }
  /// Classes made by FFT, from 0 on.
  std::int64_t n_classes() const { return (stride() + 1) / 2; }
  /// Groups are whole vectors of classes.
  std::int64_t n_groups() const;
  /// Nanoseconds of a row whose kernel has `n_samples` samples from its middle on.
  double nanoseconds(const ConvolutionRates& rates, double n_samples) const;
};

/// The orders of one vector: lane i, begin <= i < end, has first + i step.
struct OrderSet {
  std::int64_t first = 0;
  std::int64_t step = 1;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t lowest() const { return first + step * (step > 0 ? begin : end - 1); }
};

/// Orders that are multiplied together.
struct OrderBlock {
  std::vector<OrderSet> sets;
  std::int64_t first_class = 0;
  std::int64_t n_by_fft = 0;  ///< the first sets: vector k has that of point k
};

/// Returns blocks that contain every order up to mmax once; without FFT one set each.
std::vector<OrderBlock> order_blocks(const RowFft& fft, int mmax);

/// Returns the fastest FFT for rows of kernels with that many samples.
///
/// allowed      allowed numbers of samples around a ring
/// most_points  of an FFT
/// Returns      one that does not exist if no number has suitable factors
RowFft fastest_row_fft(const ConvolutionRates& rates, std::span<const std::int64_t> allowed,
                       double share_of_ring, std::int64_t most_points);

}  // namespace ringweave::detail::inline convolve
