// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "base/cuda/block_types.hpp"

namespace ringweave::detail::gpu {

/// Sign of the exponent.
enum class FftSign { forward, backward };

/// Size of a batch of complex FFTs of one length. A machine that has them provides
///   plan_fft(FftSize)               returns an Fft
///   Fft::work_in(memory)            sets work memory of at least work_bytes(); may be shared
///   Fft::transform(sign, from, to)  in order; from and to may be equal
struct FftSize {
  std::int64_t length;
  std::int64_t count;

  std::int64_t bytes() const { return length * count * std::int64_t{sizeof(Double2)}; }
  friend bool operator==(const FftSize&, const FftSize&) = default;
};

}  // namespace ringweave::detail::gpu
