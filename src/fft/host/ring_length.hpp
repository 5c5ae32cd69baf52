// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace ringweave {

/// How the FFT of one ring length is computed; no table, no plan.
///
/// A ring of n pixels, n even, goes through a complex FFT of half the length; n odd through one of
/// length n. That length is smooth times awkward, the awkward part holding all prime factors above
/// 13 (most polar rings of HEALPix have one). FFTW plans smooth lengths fast and well; handed the
/// whole awkward length it takes seconds to plan what then runs slower than a chirp transform of
/// the awkward part alone.
struct RingLength {
  explicit RingLength(std::int64_t n_phi);

  std::int64_t n_phi = 1;
  std::int64_t n_complex = 1;  ///< length of the complex FFT, n_smooth * n_awkward
  std::int64_t n_smooth = 1;   ///< coprime to n_awkward
  std::int64_t n_awkward = 1;
  /// Length of the chirp's convolution; 0: FFTW does the awkward part directly.
  std::int64_t n_convolution = 0;
  bool is_even() const { return n_phi % 2 == 0; }
  bool is_smooth() const { return n_awkward == 1; }
};

}  // namespace ringweave
