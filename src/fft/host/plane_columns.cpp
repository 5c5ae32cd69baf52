// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>

#include "fft/host/plane_lanes.hpp"
#include "fft/host/plane_lines.hpp"

namespace ringweave::detail::inline fft {

PlaneColumns::PlaneColumns(const FilterAxis& axis)
    : axis_(axis), row_size_(2 * plane_lanes::width()), fft_(&StripFft::of_length(axis.length)) {}

void PlaneColumns::fill(const double* rows, LineWindow window, double* values) const noexcept {
  const auto row_of = [&](std::int64_t element) {
    return values + reversed(axis_, element) * row_size_;
  };
  if (axis_.series == AxisSeries::cosine || window.size() < axis_.length)
    std::fill(values, values + strip_size(), 0.0);
  for (std::int64_t i = window.begin; i < window.end; ++i, rows += row_size_) {
    copy_row(rows, row_of(fft_element(axis_, axis_.first + i)));
    if (axis_.is_mirrored && i > 0 && i < axis_.size - 1) copy_row(rows, row_of(axis_.length - i));
  }
}

void PlaneColumns::forward(const double* rows, LineWindow window, double* strip,
                           double* other) const noexcept {
  double* data = fft_->is_in_place() ? strip : other;
  fill(rows, window, data);
  fft_->transform(data, data == strip ? other : strip);
}

void PlaneColumns::backward(double* strip, double* other, double* rows) const noexcept {
  const double* values = fft_->transform(strip, other);
  for (std::int64_t i = 0; i < axis_.size_out; ++i)
    copy_row(values + fft_element(axis_, axis_.first_out + i) * row_size_, rows + i * row_size_);
}

}  // namespace ringweave::detail::inline fft
