// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

namespace ringweave {

/// How the FFT of one ring length is computed; no table, no plan.
///
/// A ring of n pixels, n even, goes through a complex FFT of half the length; n odd through one of
/// length n. Where that length has no prime factor above 13, it is smooth. Else it is split into
/// n_smooth * n_awkward. The awkward part holds the prime factors above 43, for which a chirp
/// transform is faster than the sums themselves (most polar rings of HEALPix have one); without
/// such factors it holds those above 13.
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

/// Factors of a number without prime factors above 43, for few passes: the largest powers of 2
/// first.
std::vector<int> radices_of(std::int64_t n);

}  // namespace ringweave
