// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>
#include <map>
#include <vector>

#include "base/unit_powers.hpp"
#include "fft/host/ring_length.hpp"
#include "fft/lane_transform.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline fft {

/// Tables of a convolution of one length, a multiple of 8, in the layout of
/// lane_convolution-inl.hpp.
struct LaneConvolution {
  /// One level of butterflies: blocks of `length` elements are cut into `radix` blocks.
  struct Pass {
    int radix;
    std::int64_t length;
    const std::complex<double>* twiddles;  ///< [q][k - 1], exp(2 pi i q k / length), 0 < k < radix
  };
  explicit LaneConvolution(std::int64_t length);
  std::int64_t length;
  std::vector<Pass> passes;  ///< the first one of radix 8
  HostBuffer<std::complex<double>> tables;
};

/// Tables of the transforms of one awkward length, out_j = sum_k in_k exp(+2 pi i j k / length).
///
/// If its prime factors are too large for direct sums, the transform is a convolution with the
/// chirp u_j = exp(i pi j^2 / length): sum_k z_k exp(2 pi i j k / length) = u_j sum_k (z_k u_k)
/// conj(u_{j-k}).
///
/// From  Bluestein (1970), IEEE Trans. Audio Electroacoust. 18, 451
struct ColumnTransform {
  std::int64_t length = 1;
  const LaneTransform* fft = nullptr;            ///< of `length`; null: a convolution
  const LaneConvolution* convolution = nullptr;  ///< null: direct sums
  /// Table of a convolution: exp(i pi k / length), k < 2 length, from which the chirp is made.
  std::int64_t half_turns = -1;
};

/// Tables for all awkward lengths of owned rings; lengths share common tables.
class ColumnPlan {
 public:
  /// Returns a plan that is valid as long as this object.
  const LaneTransform& fft(std::int64_t length);
  /// Adds the powers the transform needs to `requests`.
  const ColumnTransform& columns(const RingLength& length,
                                 std::vector<UnitPowers::Request>& requests);
  std::int64_t bytes() const;

 private:
  std::map<std::int64_t, LaneTransform> ffts_;
  std::map<std::int64_t, LaneConvolution> convolutions_;
  std::map<std::int64_t, ColumnTransform> columns_;
};

}  // namespace ringweave::detail::inline fft
