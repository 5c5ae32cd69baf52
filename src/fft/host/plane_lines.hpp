// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
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

/// Rows along x: values <-> complex numbers, length / 2 + 1 for each row.
class PlaneRows {
 public:
  /// What a row needs while it is transformed.
  struct Scratch {
    double* values = nullptr;                 ///< [axis.length]
    std::complex<double>* numbers = nullptr;  ///< [n_strips() width()]
  };

  explicit PlaneRows(const FilterAxis& axis);

  std::int64_t n_numbers() const { return axis_.length / 2 + 1; }
  std::int64_t n_strips() const { return n_strips_; }

  /// Transforms a row to one row of every strip, `apart` doubles from one to the next. Numbers
  /// beyond n_numbers() are zero.
  void forward(const double* row, LineWindow window, const Scratch& scratch, double* strips,
               std::int64_t apart) const noexcept;
  /// Transforms one row of every strip to size_out values.
  void backward(const double* strips, std::int64_t apart, const Scratch& scratch, double* row,
                Accumulate how) const noexcept;

 private:
  void fill(const double* row, LineWindow window, double* values) const noexcept;

  FilterAxis axis_;
  std::int64_t n_strips_;
  const RowFft* fft_;
};

/// Strips of columns along y: rows of a strip <-> their transforms.
class PlaneColumns {
 public:
  explicit PlaneColumns(const FilterAxis& axis);

  std::int64_t row_size() const { return row_size_; }  ///< doubles of a row of a strip
  std::int64_t strip_size() const { return axis_.length * row_size_; }

  /// Transforms window.size() rows to a strip.
  /// other  scratch, strip_size()
  void forward(const double* rows, LineWindow window, double* strip, double* other) const noexcept;
  /// Transforms a strip, which is lost, to size_out rows.
  void backward(double* strip, double* other, double* rows) const noexcept;

 private:
  void fill(const double* rows, LineWindow window, double* values) const noexcept;
  void copy_row(const double* from, double* to) const noexcept {
    std::copy(from, from + row_size_, to);
  }
  /// Where the input of the transform has an element: in reverse order, for the sign that
  /// transforms forward.
  std::int64_t reversed(std::int64_t element) const {
    return element == 0 ? 0 : axis_.length - element;
  }

  FilterAxis axis_;
  std::int64_t row_size_;
  const StripFft* fft_;
};

}  // namespace ringweave::detail::inline fft
