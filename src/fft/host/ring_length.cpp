// SPDX-License-Identifier: GPL-3.0-or-later
#include "fft/host/ring_length.hpp"

#include <algorithm>
#include <bit>

namespace ringweave {
namespace {

// Up to here FFTW's own transform of an awkward length is faster than a chirp (measured).
constexpr std::int64_t longest_direct_awkward = 31;

/// Divides n by its prime factors up to 13, for which FFTW has straight-line codelets.
std::int64_t awkward_part(std::int64_t n) {
  for (const std::int64_t prime : {2, 3, 5, 7, 11, 13}) {
    while (n % prime == 0) n /= prime;
  }
  return n;
}

/// The least 2^a 3^b 5^c >= n, b <= 1, that is a multiple of 8: FFTW's vector codelets do not get
/// along with 9 (measured: half the speed).
std::int64_t convolution_length(std::int64_t n) {
  constexpr std::int64_t unit = 8;
  const std::int64_t wanted = (n + unit - 1) / unit;
  auto best = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(wanted)));
  for (std::int64_t five = 1; five < best; five *= 5) {
    for (const std::int64_t odd : {five, 3 * five}) {
      const auto quotient = static_cast<std::uint64_t>((wanted + odd - 1) / odd);
      best = std::min(best, odd * static_cast<std::int64_t>(std::bit_ceil(quotient)));
    }
  }
  return unit * best;
}

}  // namespace

RingLength::RingLength(std::int64_t n)
    : n_phi(n),
      n_complex(n % 2 == 0 ? n / 2 : n),
      n_smooth(n_complex / awkward_part(n_complex)),
      n_awkward(n_complex / n_smooth),
      n_convolution(n_awkward > longest_direct_awkward ? convolution_length(2 * n_awkward - 1)
                                                       : 0) {}

}  // namespace ringweave
