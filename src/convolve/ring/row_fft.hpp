// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "convolve/ring/ring_convolution_cost.hpp"

namespace ringweave {

/// How a row of kernel modes, K_m = sum_j k_j cos(2 pi m j / samples), is cut into short FFTs: the
/// orders m = stride k + s of a class s are an FFT of `points` points over k, after the samples
/// times exp(2 pi i s j / samples) have been added up modulo `points`. Orders of class stride - s
/// are those of class s read from samples - m, so half of the classes do. A kernel that covers
/// little of a ring has little to add up.
///
/// From  Cooley and Tukey (1965), Math. Comput. 19, 297; the pruning: Markel (1971), IEEE Trans.
///       Audio Electroacoust. 19, 305
struct RowFft {
  std::int64_t samples = 0;  ///< around a ring; 0: no row is made by FFT
  std::int64_t points = 1;
  /// Times the samples are made, for as many groups of orders as memory holds.
  double n_passes = 1;

  bool exists() const { return samples > 0; }
  std::int64_t stride() const { return samples / points; }
  /// Classes by FFT, from 0 on.
  std::int64_t n_classes() const { return (stride() + 1) / 2; }
  /// Classes come in whole vectors.
  std::int64_t n_groups() const;
  /// Nanoseconds of a row whose kernel has that many samples from its middle on.
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
  std::int64_t n_by_fft = 0;  ///< the first sets: the vector k has that of point k
};

/// Blocks with every order up to mmax once; without FFT of one set each.
std::vector<OrderBlock> order_blocks(const RowFft& fft, int mmax);

/// The fastest FFT for rows of kernels with that many samples.
///
/// allowed      numbers of samples around a ring, of which one is to be taken
/// most_points  of an FFT
/// Returns      one that does not exist where no number has factors that fit
RowFft fastest_row_fft(const ConvolutionRates& rates, std::span<const std::int64_t> allowed,
                       double share_of_ring, std::int64_t most_points);

}  // namespace ringweave
