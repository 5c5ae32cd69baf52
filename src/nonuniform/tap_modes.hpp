// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

namespace ringweave::detail::inline nonuniform {

/// Sums over taps, sum_i phi(t_i) exp(2 pi i xi t_i), at some frequencies xi for offsets of a point
/// among its taps. Their mean over the offset is the transform h(xi) of the taps; their largest
/// difference from it, over |h(xi)|, is the relative error of that mode where it is largest,
///   e(xi) = max over u of |sum over p != 0 of h(xi + p) exp(2 pi i p u)| / |h(xi)|,
/// with all aliases. In long double, since e is as small as 1e-14 of h(0).
class TapModes {
 public:
  using Long = long double;

  /// frequencies  cycles per fine sample, 0..1/2
  TapModes(int width, std::vector<double> frequencies);

  /// Offsets x in [0, 1] at which taps are needed; those at -x follow from the symmetry.
  const std::vector<Long>& offsets() const { return offsets_; }
  const std::vector<double>& frequencies() const { return frequencies_; }
  /// Returns where tap i is relative to the point, in fine samples, when the offset is x.
  Long tap_position(int i, Long x) const;

  /// Sums of one frequency: the mean h, and the rest at each offset.
  struct Sums {
    Long mean = 0;
    std::vector<Long> remainders;  ///< [offset][real, imaginary]

    /// Returns the relative error e of the mode at the worst offset.
    Long error() const;
  };
  /// taps  [offset][tap]
  Sums sums(std::size_t frequency, const std::vector<Long>& taps) const;

 private:
  std::size_t width_;
  std::vector<double> frequencies_;
  std::vector<Long> offsets_;
  std::vector<Long> weights_;  ///< of the offsets x and -x together; sum to 1
  std::vector<Long> cosines_;  ///< [frequency][offset][tap]
  std::vector<Long> sines_;
};

/// Returns frequencies from 0 to `highest` that crowd towards it, where the error is largest.
std::vector<double> crowded_frequencies(int n, double highest);

}  // namespace ringweave::detail::inline nonuniform
