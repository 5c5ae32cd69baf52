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

/// Returns where the input of StripFft has an element: in reverse order, for the sign that
/// transforms forward.
inline std::int64_t reversed(const FilterAxis& axis, std::int64_t element) {
  return element == 0 ? 0 : axis.length - element;
}

/// Returns the element of the FFT that holds a position of the axis's period: the even positions of
/// a cosine axis, then the odd ones backwards.
inline std::int64_t fft_element(const FilterAxis& axis, std::int64_t position) {
  if (axis.series == AxisSeries::fourier) return position;
  return position % 2 == 0 ? position / 2 : axis.length - 1 - position / 2;
}

/// Rows along x, in groups of two for each vector lane: values <-> complex numbers, length / 2 + 1
/// for each row. Two rows are the real and imaginary part of one FFT.
class PlaneRows {
 public:
  /// Memory for a group while it is transformed, each scratch_size() doubles.
  struct Scratch {
    double* data = nullptr;
    double* other = nullptr;
  };
  /// One row of every strip, for each row of the group.
  template <class T>
  struct Strips {
    T* data = nullptr;       ///< rows follow each other
    std::int64_t apart = 0;  ///< from a row of one strip to that of the next
  };

  explicit PlaneRows(const FilterAxis& axis);

  std::int64_t n_numbers() const { return axis_.length / 2 + 1; }
  std::int64_t n_strips() const { return (n_numbers() + width_ - 1) / width_; }
  std::int64_t group_size() const { return 2 * width_; }
  std::int64_t scratch_size() const { return axis_.length * group_size(); }

  /// Transforms n_rows <= group_size() rows. Numbers beyond n_numbers() are zero.
  void forward(const double* rows, std::int64_t row_stride, std::int64_t n_rows, LineWindow window,
               const Scratch& scratch, Strips<double> strips) const noexcept;
  /// Transforms rows of strips to size_out values each.
  void backward(Strips<const double> strips, const Scratch& scratch, double* rows,
                std::int64_t row_stride, std::int64_t n_rows, Accumulate how) const noexcept;

 private:
  FilterAxis axis_;
  std::int64_t width_;
  const StripFft* fft_;
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

  FilterAxis axis_;
  std::int64_t row_size_;
  const StripFft* fft_;
};

}  // namespace ringweave::detail::inline fft
