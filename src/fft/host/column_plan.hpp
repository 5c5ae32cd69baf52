// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>
#include <map>
#include <vector>

#include "base/buffer.hpp"
#include "fft/host/ring_length.hpp"
#include "fft/lane_transform.hpp"
#include "fft/unit_powers.hpp"

namespace ringweave {

/// Tables of a convolution of that length, a multiple of 8, as lane_convolution-inl.hpp takes them.
struct LaneConvolution {
  /// One level of butterflies; blocks of `length` elements are cut into `radix` blocks.
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
/// With prime factors too large for sums, the transform is a convolution with the chirp u_j =
/// exp(i pi j^2 / length): sum_k z_k exp(2 pi i j k / length) = u_j sum_k (z_k u_k) conj(u_{j-k}).
///
/// From  Bluestein (1970), IEEE Trans. Audio Electroacoust. 18, 451
struct ColumnTransform {
  std::int64_t length = 1;
  const LaneTransform* fft = nullptr;            ///< of `length`, or null: by a convolution
  const LaneConvolution* convolution = nullptr;  ///< null: by sums
  /// With a convolution: table of exp(i pi k / length), k < 2 length, that the chirp is made from.
  std::int64_t half_turns = -1;
};

/// The tables all owned awkward lengths need; lengths share what they have in common.
class ColumnPlan {
 public:
  /// Valid as long as the plan.
  const LaneTransform& fft(std::int64_t length);
  /// Adds what powers the transform needs to `requests`.
  const ColumnTransform& columns(const RingLength& length,
                                 std::vector<UnitPowers::Request>& requests);
  std::int64_t bytes() const;

 private:
  std::map<std::int64_t, LaneTransform> ffts_;
  std::map<std::int64_t, LaneConvolution> convolutions_;
  std::map<std::int64_t, ColumnTransform> columns_;
};

}  // namespace ringweave
