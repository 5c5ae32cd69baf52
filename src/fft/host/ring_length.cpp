// SPDX-License-Identifier: GPL-3.0-or-later
#include "fft/host/ring_length.hpp"

#include <algorithm>
#include <bit>

namespace ringweave {
namespace {

// FFTW has straight-line codelets up to this prime.
constexpr std::int64_t largest_direct_prime = 13;
// Below this length even a prime is cheaper without a chirp.
constexpr std::int64_t shortest_chirp = 32;

/// The least 2^a 3^b 5^c >= n that is a multiple of 16, which keeps FFTW in its vector codelets.
std::int64_t convolution_length(std::int64_t n) {
  constexpr std::int64_t unit = 16;
  const std::int64_t wanted = (n + unit - 1) / unit;
  auto best = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(wanted)));
  for (std::int64_t five = 1; five < best; five *= 5) {
    for (std::int64_t odd = five; odd < best; odd *= 3) {
      const auto quotient = static_cast<std::uint64_t>((wanted + odd - 1) / odd);
      best = std::min(best, odd * static_cast<std::int64_t>(std::bit_ceil(quotient)));
    }
  }
  return unit * best;
}

}  // namespace

std::int64_t largest_prime_factor(std::int64_t n) {
  std::int64_t largest = 1;
  for (std::int64_t p = 2; p * p <= n; ++p) {
    while (n % p == 0) {
      largest = p;
      n /= p;
    }
  }
  return std::max(largest, n);
}

RingLength::RingLength(std::int64_t n) : n_phi(n), n_complex(n % 2 == 0 ? n / 2 : n) {
  if (n_complex >= shortest_chirp && largest_prime_factor(n_complex) > largest_direct_prime) {
    n_convolution = convolution_length(2 * n_complex - 1);
  }
}

}  // namespace ringweave
