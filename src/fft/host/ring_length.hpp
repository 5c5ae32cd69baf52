// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

namespace ringweave::detail::inline fft {

/// Method of the FFT for one ring length; no tables or plans.
///
/// A ring of n pixels uses a complex FFT of length n / 2 for even n, of length n for odd n. A
/// length without prime factors above 13 is smooth. Others are split into n_smooth * n_awkward. The
/// awkward part holds the prime factors above 43, for which a chirp transform is faster than direct
/// sums (most polar rings of HEALPix have one), or without such factors those above 13.
struct RingLength {
  explicit RingLength(std::int64_t n_phi);

  std::int64_t n_phi = 1;
  std::int64_t n_complex = 1;  ///< length of the complex FFT, n_smooth * n_awkward
  std::int64_t n_smooth = 1;   ///< coprime to n_awkward
  std::int64_t n_awkward = 1;
  /// Length of the chirp's convolution; 0: no prime factor needs one.
  std::int64_t n_convolution = 0;
  bool is_even() const { return n_phi % 2 == 0; }
  bool is_smooth() const { return n_awkward == 1; }
};

/// Factors a number without prime factors above 43 for few passes, largest powers of 2 first.
std::vector<int> radices_of(std::int64_t n);

}  // namespace ringweave::detail::inline fft
