// SPDX-License-Identifier: GPL-3.0-or-later
#include "fft/host/column_plan.hpp"

#include <numbers>

#include "base/checked_cast.hpp"

namespace ringweave::detail::inline fft {

using Complex = std::complex<double>;

LaneConvolution::LaneConvolution(std::int64_t n) : length(n) {
  const HostBuffer<Complex> turns = powers_of_unity(n);
  std::int64_t size = 0;
  std::int64_t left = n;
  for (const int radix : radices_of(n)) {
    passes.push_back({radix, left, nullptr});
    size += left / radix * (radix - 1);
    left /= radix;
  }
  // The first pass of a spectrum reads one entry before the first twiddle and ignores it.
  tables.allocate(size + 1);
  Complex* next = tables.data();
  *next++ = 1;
  for (Pass& pass : passes) {
    pass.twiddles = next;
    for (std::int64_t q = 0; q < pass.length / pass.radix; ++q) {
      for (std::int64_t k = 1; k < pass.radix; ++k) *next++ = turns[n / pass.length * q * k];
    }
  }
}

const LaneTransform& ColumnPlan::fft(std::int64_t length) {
  return ffts_.try_emplace(length, length).first->second;
}

const ColumnTransform& ColumnPlan::columns(const RingLength& length,
                                           std::vector<UnitPowers::Request>& requests) {
  const auto [found, is_new] = columns_.try_emplace(length.n_awkward);
  ColumnTransform& transform = found->second;
  if (is_new) {
    transform.length = length.n_awkward;
    if (length.n_convolution == 0) {
      transform.fft = &fft(length.n_awkward);
    } else {
      const std::int64_t m = length.n_convolution;
      const auto angle =
          std::numbers::pi_v<long double> / static_cast<long double>(transform.length);
      transform.convolution = &convolutions_.try_emplace(m, m).first->second;
      transform.half_turns = ssize64(requests);
      requests.push_back({angle, 2 * transform.length});
    }
  }
  return transform;
}

std::int64_t ColumnPlan::bytes() const {
  std::int64_t sum = 0;
  for (const auto& [length, fft] : ffts_) sum += held_bytes(fft.turns);
  for (const auto& [length, convolution] : convolutions_) sum += held_bytes(convolution.tables);
  return sum;
}

}  // namespace ringweave::detail::inline fft
