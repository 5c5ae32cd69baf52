// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>

#include "fft/host/plane_lines.hpp"

namespace ringweave::detail::inline fft {
namespace {

template <Accumulate how>
void put(double value, double& to) {
  to = how == Accumulate::add ? to + value : value;
}

/// Copies the values that result from the elements of the FFT.
template <Accumulate how>
void take_row(const FilterAxis& axis, const double* values, double* row) {
  if (axis.series == AxisSeries::fourier) {
    for (std::int64_t i = 0; i < axis.size_out; ++i) put<how>(values[axis.first_out + i], row[i]);
    return;
  }
  // Positions of one parity are consecutive elements.
  const std::int64_t odd = axis.first_out % 2;
  const double* even_values = values + (axis.first_out + odd) / 2;
  for (std::int64_t i = odd, k = 0; i < axis.size_out; i += 2, ++k)
    put<how>(even_values[k], row[i]);
  const double* odd_values = values + axis.length - 1 - axis.first_out / 2;
  for (std::int64_t i = 1 - odd, k = 0; i < axis.size_out; i += 2, ++k)
    put<how>(odd_values[-k], row[i]);
}

}  // namespace

LineWindow clipped(std::int64_t begin, std::int64_t end, std::int64_t size) {
  begin = std::max<std::int64_t>(begin, 0);
  end = std::min(end, size);
  return begin < end ? LineWindow{begin, end} : LineWindow{};
}

PlaneRows::PlaneRows(const FilterAxis& axis) : axis_(axis), fft_(&RowFft::of_length(axis.length)) {}

void PlaneRows::fill(const double* row, LineWindow window, double* values) const noexcept {
  const std::int64_t first = axis_.first + window.begin;
  if (axis_.series == AxisSeries::fourier) {
    double* after = std::copy(row + window.begin, row + window.end, values + first);
    std::fill(values, values + first, 0.0);
    std::fill(after, values + axis_.length, 0.0);
    if (!axis_.is_mirrored) return;
    const std::int64_t end = std::min(window.end, axis_.size - 1);
    for (std::int64_t i = std::max<std::int64_t>(window.begin, 1); i < end; ++i)
      values[axis_.length - i] = row[i];
    return;
  }
  std::fill(values, values + axis_.length, 0.0);
  const std::int64_t odd = first % 2;
  double* even_values = values + (first + odd) / 2;
  for (std::int64_t i = window.begin + odd, k = 0; i < window.end; i += 2, ++k)
    even_values[k] = row[i];
  double* odd_values = values + axis_.length - 1 - first / 2;
  for (std::int64_t i = window.begin + 1 - odd, k = 0; i < window.end; i += 2, ++k)
    odd_values[-k] = row[i];
}

void PlaneRows::forward(const double* row, LineWindow window,
                        const Scratch& scratch) const noexcept {
  fill(row, window, scratch.values);
  fft_->forward(scratch.values, scratch.numbers);
  std::fill(scratch.numbers + n_numbers(), scratch.numbers + n_strips() * strip_width, 0.0);
}

void PlaneRows::backward(const Scratch& scratch, double* row, Accumulate how) const noexcept {
  fft_->backward(scratch.numbers, scratch.values);
  if (how == Accumulate::add) {
    take_row<Accumulate::add>(axis_, scratch.values, row);
  } else {
    take_row<Accumulate::overwrite>(axis_, scratch.values, row);
  }
}

}  // namespace ringweave::detail::inline fft
