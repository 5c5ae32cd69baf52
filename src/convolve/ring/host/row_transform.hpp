// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/unit_powers.hpp"
#include "convolve/ring/host/mode_sum.hpp"
#include "convolve/ring/row_fft.hpp"
#include "fft/lane_transform.hpp"

namespace ringweave::detail::inline convolve {

namespace row_transform {

/// The operands of the vectorised code.
struct Job {
  const mode_sum::Tile* tile = nullptr;
  const LaneTransform* fft = nullptr;
  const std::complex<double>* half_turns = nullptr;  ///< null: samples not shifted
  const double* factors = nullptr;
  double* scratch = nullptr;
  double* rows = nullptr;
};

}  // namespace row_transform

/// Computes rows of kernel modes by FFT, one class of orders per lane, two pairs of rings as real
/// and imaginary part: both rows are real, so they can be separated.
class RowTransform {
 public:
  /// fft  must exist
  explicit RowTransform(const RowFft& fft);

  /// Returns the doubles of a thread's scratch, of a sample's factors, and of the rows of a vector
  /// of orders.
  std::int64_t scratch_size() const;
  static constexpr std::int64_t factor_size = 2 * mode_sum::orders;
  static constexpr std::int64_t set_size = mode_sum::pairs * mode_sum::orders;
  std::int64_t bytes() const { return held_bytes(half_turns_, transform_.turns); }

  /// Sets factors[re, im][class] = exp(i pi s (2 sample + half) / samples) / 2, for classes from
  /// first_class on.
  void find_factors(std::int64_t first_class, std::int64_t sample, std::int64_t half,
                    double* factors) const;
  /// factors  [sample], those of the classes
  /// half     whether samples are shifted by half a sample
  /// rows     [point][pair][orders], aligned to vectors; overwritten
  void run(const mode_sum::Tile& tile, bool half, const double* factors, double* scratch,
           double* rows) const noexcept;

 private:
  RowFft fft_;
  LaneTransform transform_;
  /// exp(i pi k / points), the phase of a shift by half a sample; negative beyond the Nyquist,
  /// where the order is read from the other end.
  std::vector<std::complex<double>> half_turns_;
  UnitPowers powers_;  ///< exp(i pi k / samples)
};

}  // namespace ringweave::detail::inline convolve
