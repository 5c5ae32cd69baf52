// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace ringweave {

/// How the FFT of one ring length is computed; no table, no plan.
///
/// A ring of n pixels, n even, goes through a complex FFT of half the length; n odd through one of length n. A complex
/// length whose prime factors are all small has an FFTW plan of its own. The others (most polar rings of HEALPix) are
/// chirp transforms on one of a few convolution lengths: planning them directly takes FFTW seconds and the plans are
/// slower than the chirp.
struct RingLength {
  explicit RingLength(std::int64_t n_phi);

  std::int64_t n_phi = 1;
  std::int64_t n_complex = 1;      ///< length of the complex FFT
  std::int64_t n_convolution = 0;  ///< length of the chirp's convolution; 0: FFTW directly
  bool is_even() const { return n_phi % 2 == 0; }
  bool is_chirp() const { return n_convolution > 0; }
  std::int64_t n_bins() const { return n_phi / 2 + 1; }  ///< modes 0..n_phi / 2 that the ring tells apart
};

/// The largest prime that divides n >= 2; 1 for n = 1.
std::int64_t largest_prime_factor(std::int64_t n);

}  // namespace ringweave
