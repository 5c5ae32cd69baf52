// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>

#include "fft/host/plane_ffts.hpp"
#include "fft/plane_filter.hpp"

namespace ringweave::detail::inline fft {

/// The values of a line that are not zero: [begin, end).
struct LineWindow {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t size() const { return end - begin; }
};
/// Returns the part of [begin, end) that is within [0, size); [0, 0) if there is none.
LineWindow clipped(std::int64_t begin, std::int64_t end, std::int64_t size);

/// Returns the element of the FFT that holds a position of the axis's period: the even positions of
/// a cosine axis, then the odd ones backwards.
inline std::int64_t fft_element(const FilterAxis& axis, std::int64_t position) {
  if (axis.series == AxisSeries::fourier) return position;
  return position % 2 == 0 ? position / 2 : axis.length - 1 - position / 2;
}

/// Single rows along x: values <-> complex numbers.
class PlaneRows {
 public:
  /// What a row needs while it is transformed.
  struct Scratch {
    double* values = nullptr;                 ///< [axis.length]
    std::complex<double>* numbers = nullptr;  ///< [n_strips() * strip_width]
  };

  explicit PlaneRows(const FilterAxis& axis);

  /// Complex numbers of a row, length / 2 + 1; number p has the cosines p and length - p in its
  /// real and imaginary part, turned by exp(i pi p / (2 length)), on a cosine axis.
  std::int64_t n_numbers() const { return axis_.length / 2 + 1; }
  std::int64_t n_strips() const { return (n_numbers() + strip_width - 1) / strip_width; }

  /// Transforms a row to scratch.numbers; those beyond n_numbers() are zero.
  void forward(const double* row, LineWindow window, const Scratch& scratch) const noexcept;
  /// Transforms scratch.numbers, which are lost, to size_out values.
  void backward(const Scratch& scratch, double* row, Accumulate how) const noexcept;

 private:
  void fill(const double* row, LineWindow window, double* values) const noexcept;

  FilterAxis axis_;
  const RowFft* fft_;
};

/// Strips of strip_width columns along y.
class PlaneColumns {
 public:
  explicit PlaneColumns(const FilterAxis& axis);

  /// Transforms [window.size()][strip_width] numbers to [length][strip_width].
  /// values  scratch, [length][strip_width]
  void forward(const std::complex<double>* rows, LineWindow window, std::complex<double>* values,
               std::complex<double>* strip) const noexcept;
  /// Transforms a strip, which is lost, to [size_out][strip_width] numbers.
  void backward(std::complex<double>* strip, std::complex<double>* values,
                std::complex<double>* rows) const noexcept;

 private:
  FilterAxis axis_;
  const StripFft* fft_;
};

}  // namespace ringweave::detail::inline fft
