// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>

#include "fft/host/plane_lines.hpp"

namespace ringweave::detail::inline fft {
namespace {

using Complex = std::complex<double>;

void copy_row(const Complex* from, Complex* to) { std::copy(from, from + strip_width, to); }
void clear_rows(Complex* begin, std::int64_t n_rows) {
  std::fill(begin, begin + std::max<std::int64_t>(n_rows, 0) * strip_width, 0.0);
}

/// Copies rows [window) and zeros to the elements of the FFT.
void fill_strip(const FilterAxis& axis, LineWindow window, const Complex* rows, Complex* values) {
  const std::int64_t first = axis.first + window.begin;
  if (axis.series == AxisSeries::cosine) {
    clear_rows(values, axis.length);
    for (std::int64_t i = 0; i < window.size(); ++i)
      copy_row(rows + i * strip_width, values + fft_element(axis, first + i) * strip_width);
    return;
  }
  clear_rows(values, first);
  Complex* after =
      std::copy(rows, rows + window.size() * strip_width, values + first * strip_width);
  clear_rows(after, axis.length - first - window.size());
  if (!axis.is_mirrored) return;
  const std::int64_t end = std::min(window.end, axis.size - 1);
  for (std::int64_t i = std::max<std::int64_t>(window.begin, 1); i < end; ++i)
    copy_row(values + i * strip_width, values + (axis.length - i) * strip_width);
}

}  // namespace

PlaneColumns::PlaneColumns(const FilterAxis& axis)
    : axis_(axis), fft_(&StripFft::of_length(axis.length)) {}

void PlaneColumns::forward(const Complex* rows, LineWindow window, Complex* values,
                           Complex* strip) const noexcept {
  fill_strip(axis_, window, rows, values);
  fft_->forward(values, strip);
}

void PlaneColumns::backward(Complex* strip, Complex* values, Complex* rows) const noexcept {
  fft_->backward(strip, values);
  for (std::int64_t i = 0; i < axis_.size_out; ++i)
    copy_row(values + fft_element(axis_, axis_.first_out + i) * strip_width,
             rows + i * strip_width);
}

}  // namespace ringweave::detail::inline fft
