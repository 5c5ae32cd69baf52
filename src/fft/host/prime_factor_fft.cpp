// SPDX-License-Identifier: GPL-3.0-or-later
#include "fft/host/prime_factor_fft.hpp"

#include <algorithm>

#include "fft/host/complex_arrays.hpp"

namespace ringweave {
namespace {

using Complex = std::complex<double>;

// Smooth transforms done by one call of FFTW; the columns are padded to a multiple.
constexpr std::int64_t smooth_batch = 8;

std::int64_t padded_columns(const RingLength& length) {
  return (length.n_awkward + smooth_batch - 1) / smooth_batch * smooth_batch * length.n_smooth;
}

/// Calls part(first index of the run in 0..h-1, first element, number) for the runs into which the
/// elements (start + s i) mod h, i < p, fall: they pass h at most once.
template <class Part>
void for_runs(std::int64_t start, const RingLength& length, const Part& part) {
  const std::int64_t before = (length.n_complex - start + length.n_smooth - 1) / length.n_smooth;
  const std::int64_t count = std::min(before, length.n_awkward);
  part(start, std::int64_t{0}, count);
  if (count < length.n_awkward) {
    part(start + count * length.n_smooth - length.n_complex, count, length.n_awkward - count);
  }
}

}  // namespace

PrimeFactorFft::Plans::Plans(const RingLength& length) {
  if (length.n_smooth > 1) smooth = &BackwardFft::of_length(length.n_smooth, smooth_batch);
  awkward =
      &BackwardFft::of_length(length.n_convolution > 0 ? length.n_convolution : length.n_awkward);
}

void PrimeFactorFft::Capacity::include(const RingLength& length) {
  columns = std::max(columns, padded_columns(length));
  awkward = std::max(awkward, length.n_awkward);
  convolution = std::max(convolution, length.n_convolution);
}

PrimeFactorFft::PrimeFactorFft(const Capacity& capacity)
    : chirp_(capacity.awkward),
      response_(capacity.convolution),
      padded_(std::max(capacity.convolution, capacity.awkward)),
      spectrum_(padded_.size()),
      columns_(capacity.columns),
      transformed_(capacity.columns) {
  // The padding is transformed with the rest; it must hold numbers.
  std::fill(columns_.begin(), columns_.end(), 0.0);
}

void PrimeFactorFft::prepare(const RingLength& length, const Plans& plans, const UnitPowers& roots,
                             std::int64_t table) noexcept {
  length_ = length;
  smooth_ = plans.smooth;
  awkward_ = plans.awkward;
  const std::int64_t p = length.n_awkward;
  const std::int64_t m = length.n_convolution;
  if (m == 0) return;

  // u_j = exp(i pi (s j)^2 / h): the square modulo 2 h by its differences.
  const std::int64_t period = 2 * length.n_complex;
  const std::int64_t first_step = length.n_smooth * length.n_smooth % period;
  const std::int64_t second_step = 2 * first_step % period;
  std::int64_t square = 0;
  std::int64_t step = first_step;
  for (std::int64_t j = 0; j < p; ++j) {
    chirp_[j] = roots.value(table, square);
    square = square + step < period ? square + step : square + step - period;
    step = step + second_step < period ? step + second_step : step + second_step - period;
  }

  // The inverse transform's 1 / m is put here, once per length.
  const double scale = 1.0 / static_cast<double>(m);
  padded_[0] = scale * std::conj(chirp_[0]);
  for (std::int64_t j = 1; j < p; ++j) padded_[j] = padded_[m - j] = scale * std::conj(chirp_[j]);
  std::fill(padded_.data() + p, padded_.data() + m - p + 1, 0.0);
  awkward_->execute(padded_.data(), response_.data());
}

void PrimeFactorFft::execute(const Complex* in, Complex* out) noexcept {
  for (std::int64_t column = 0; column < length_.n_smooth; ++column) {
    if (length_.n_convolution > 0) {
      chirp_column(in, column);
    } else {
      direct_column(in, column);
    }
  }
  smooth_columns(out);
}

void PrimeFactorFft::chirp_column(const Complex* in, std::int64_t column) noexcept {
  const std::int64_t s = length_.n_smooth;
  const std::int64_t m = length_.n_convolution;
  for_runs(column * length_.n_awkward, length_,
           [&](std::int64_t begin, std::int64_t first, std::int64_t count) {
             complex_arrays::multiply_from({in + begin, s}, chirp_.data() + first, count,
                                           padded_.data() + first);
           });
  std::fill(padded_.data() + length_.n_awkward, padded_.data() + m, 0.0);
  awkward_->execute(padded_.data(), spectrum_.data());
  complex_arrays::multiply(spectrum_.data(), response_.data(), m);
  // Two backward transforms are a forward and a backward one read from the end: element m is
  // element 0.
  awkward_->execute(spectrum_.data(), padded_.data());
  columns_[column] = padded_[0] * chirp_[0];
  complex_arrays::multiply_reversed_to(padded_.data() + m - 1, chirp_.data() + 1,
                                       length_.n_awkward - 1, {columns_.data() + s + column, s});
}

void PrimeFactorFft::direct_column(const Complex* in, std::int64_t column) noexcept {
  const std::int64_t s = length_.n_smooth;
  const std::int64_t p = length_.n_awkward;
  for_runs(column * p, length_, [&](std::int64_t begin, std::int64_t first, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) padded_[first + i] = in[begin + i * s];
  });
  awkward_->execute(padded_.data(), spectrum_.data());
  std::int64_t from = 0;  // s j modulo p
  for (std::int64_t j = 0; j < p; ++j) {
    columns_[j * s + column] = spectrum_[from];
    from = (from + s) % p;
  }
}

void PrimeFactorFft::smooth_columns(Complex* out) noexcept {
  const std::int64_t s = length_.n_smooth;
  const std::int64_t p = length_.n_awkward;
  const Complex* transformed = columns_.data();
  if (smooth_ != nullptr) {
    for (std::int64_t j = 0; j < p; j += smooth_batch) {
      smooth_->execute(columns_.data() + j * s, transformed_.data() + j * s);
    }
    transformed = transformed_.data();
  }
  for (std::int64_t row = 0; row < s; ++row) {
    const Complex* from = transformed + row * p % s;
    for_runs(row * p, length_, [&](std::int64_t begin, std::int64_t first, std::int64_t count) {
      for (std::int64_t i = 0; i < count; ++i) out[begin + i * s] = from[(first + i) * s];
    });
  }
}

std::int64_t PrimeFactorFft::bytes() const {
  return (chirp_.size() + response_.size() + padded_.size() + spectrum_.size() + columns_.size() +
          transformed_.size()) *
         static_cast<std::int64_t>(sizeof(Complex));
}

}  // namespace ringweave
