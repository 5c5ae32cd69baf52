// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>

#include "fft/plane_filter.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline fft {

/// What the strips of a plane's spectrum are multiplied with.
///
/// A cosine axis holds the transform of reordered values, V_k, k < length. With t_k = exp(-i pi k /
/// (2 length)), t_k V_k = (C_k - i C_{length - k}) / 2 for real values, where C are their cosines
/// and C_length = 0. Multiplying C by m gives s V_k + d exp(i pi k / length) conj(V_k), s and d
/// half the sum and difference of m_k and m_{length - k}. Along y conj(V_k) is V_{length - k}, for
/// complex values, too. Along x real and imaginary part are two real columns: their transforms
/// along y are Z_q +- conj(Z_{length - q}).
class StripMultiplier {
 public:
  StripMultiplier(const FilterAxis& x, const FilterAxis& y);

  /// Adds weight times the multiplied strip to `sum`, or overwrites it.
  /// multiplier     [frequency of y][frequency of x]
  /// spectrum, sum  [y.length][strip_width], numbers from strip * strip_width on of each row
  void multiply(const double* multiplier, double weight, std::int64_t strip,
                const std::complex<double>* spectrum, std::complex<double>* sum,
                Accumulate how) const noexcept;

  /// The numbers of a plane, for functions that are compiled for each instruction set.
  struct Plane {
    std::int64_t x_length = 0;
    std::int64_t y_length = 0;
    std::int64_t n_numbers = 0;      ///< of a row, x_length / 2 + 1
    std::int64_t n_frequencies = 0;  ///< of x
    /// exp(i pi p / x_length) of every number of the strips, exp(i pi q / y_length) of q <=
    /// y_length / 2; of cosine axes only.
    const std::complex<double>* x_turns = nullptr;
    const std::complex<double>* y_turns = nullptr;
  };

 private:
  Plane plane_;
  HostBuffer<std::complex<double>> x_turns_;
  HostBuffer<std::complex<double>> y_turns_;
};

}  // namespace ringweave::detail::inline fft
