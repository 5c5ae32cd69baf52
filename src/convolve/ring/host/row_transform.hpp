// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "convolve/ring/host/mode_sum.hpp"
#include "convolve/ring/row_fft.hpp"
#include "fft/lane_transform.hpp"
#include "fft/unit_powers.hpp"

namespace ringweave {

namespace row_transform {

/// What the vector code works on.
struct Job {
  const mode_sum::Tile* tile = nullptr;
  const LaneTransform* fft = nullptr;
  const std::complex<double>* half_turns = nullptr;  ///< null: samples at whole places
  const double* factors = nullptr;
  double* scratch = nullptr;
  double* rows = nullptr;
};

}  // namespace row_transform

/// Rows of kernel modes by FFT, one class of orders in each lane, two pairs of rings as the real
/// and imaginary part: both rows are real, so they come out apart.
class RowTransform {
 public:
  /// fft  exists
  explicit RowTransform(const RowFft& fft);

  /// Doubles: scratch of a thread, factors of a sample, rows of a vector of orders.
  std::int64_t scratch_size() const;
  static constexpr std::int64_t factor_size = 2 * mode_sum::orders;
  static constexpr std::int64_t set_size = mode_sum::pairs * mode_sum::orders;
  std::int64_t bytes() const;

  /// factors[re, im][class] = exp(i pi s (2 sample + half) / samples) / 2, classes from first_class
  /// on.
  void find_factors(std::int64_t first_class, std::int64_t sample, std::int64_t half,
                    double* factors) const;
  /// factors  [sample], those of the classes
  /// half     whether samples lie half a sample further on
  /// rows     [point][pair][orders], aligned to vectors; overwritten
  void run(const mode_sum::Tile& tile, bool half, const double* factors, double* scratch,
           double* rows) const noexcept;

 private:
  RowFft fft_;
  LaneTransform transform_;
  /// exp(i pi k / points), which half a sample turns the modes by; beyond the Nyquist negative, for
  /// the order read from the other end is.
  std::vector<std::complex<double>> half_turns_;
  UnitPowers powers_;  ///< exp(i pi k / samples)
};

}  // namespace ringweave
