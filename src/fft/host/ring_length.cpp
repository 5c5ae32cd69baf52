// SPDX-License-Identifier: GPL-3.0-or-later
#include "fft/host/ring_length.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace ringweave::detail::inline fft {
namespace {

constexpr std::array primes{2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43};
// FFTW has straight-line codelets up to this prime.
constexpr int largest_smooth = 13;

/// Returns n without its prime factors up to `largest`.
std::int64_t part_above(std::int64_t n, int largest) {
  for (const int prime : primes) {
    while (prime <= largest && n % prime == 0) n /= prime;
  }
  return n;
}

/// Returns the smallest 2^a 3^b 5^c >= n, b <= 1, that is a multiple of 8.
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

RingLength::RingLength(std::int64_t n) : n_phi(n), n_complex(n % 2 == 0 ? n / 2 : n) {
  n_awkward = part_above(n_complex, primes.back());
  if (n_awkward > 1) {
    n_convolution = convolution_length(2 * n_awkward - 1);
  } else {
    n_awkward = part_above(n_complex, largest_smooth);
  }
  n_smooth = n_complex / n_awkward;
}

std::vector<int> radices_of(std::int64_t n) {
  std::vector<int> radices;
  const auto divide = [&](int radix) {
    for (; n % radix == 0; n /= radix) radices.push_back(radix);
  };
  for (const int radix : {8, 4}) divide(radix);
  divide(2);
  std::for_each(primes.rbegin(), primes.rend(), divide);
  return radices;
}

}  // namespace ringweave::detail::inline fft
