// SPDX-License-Identifier: GPL-3.0-or-later
#include "fft/host/chirp_fft.hpp"

#include <algorithm>

#include "fft/host/complex_product.hpp"

namespace ringweave {

ChirpFft::ChirpFft(std::int64_t max_complex, std::int64_t max_convolution)
    : chirp_(max_complex), response_(max_convolution), padded_(max_convolution), spectrum_(max_convolution) {}

void ChirpFft::prepare(const RingLength& length, const UnitPowers& roots, std::int64_t table,
                       const BackwardFft& convolution) {
  convolution_ = &convolution;
  n_complex_ = length.n_complex;
  n_convolution_ = length.n_convolution;

  const std::int64_t period = 2 * n_complex_;
  std::int64_t square = 0;  // j^2 modulo the period
  for (std::int64_t j = 0; j < n_complex_; ++j) {
    chirp_[j] = roots.value(table, square);
    square += 2 * j + 1;
    if (square >= period) square -= period;
  }

  // The inverse transform's 1 / n_convolution is put here, once per length.
  const double scale = 1.0 / static_cast<double>(n_convolution_);
  padded_[0] = scale * std::conj(chirp_[0]);
  for (std::int64_t j = 1; j < n_complex_; ++j) {
    padded_[j] = padded_[n_convolution_ - j] = scale * std::conj(chirp_[j]);
  }
  std::fill(padded_.data() + n_complex_, padded_.data() + n_convolution_ - n_complex_ + 1, 0.0);
  convolution.execute(padded_.data(), response_.data());
}

void ChirpFft::execute(const std::complex<double>* in, std::complex<double>* out) noexcept {
  for (std::int64_t j = 0; j < n_complex_; ++j) padded_[j] = product(in[j], chirp_[j]);
  std::fill(padded_.data() + n_complex_, padded_.data() + n_convolution_, 0.0);
  convolution_->execute(padded_.data(), spectrum_.data());
  for (std::int64_t k = 0; k < n_convolution_; ++k) spectrum_[k] = product(spectrum_[k], response_[k]);
  convolution_->execute(spectrum_.data(), padded_.data());
  // Two backward transforms are a forward and a backward one read from the end.
  out[0] = product(chirp_[0], padded_[0]);
  for (std::int64_t j = 1; j < n_complex_; ++j) out[j] = product(chirp_[j], padded_[n_convolution_ - j]);
}

std::int64_t ChirpFft::bytes() const {
  return (chirp_.size() + response_.size() + padded_.size() + spectrum_.size()) *
         static_cast<std::int64_t>(sizeof(std::complex<double>));
}

}  // namespace ringweave
