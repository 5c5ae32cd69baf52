// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include "fft/ring_fft.hpp"

namespace ringweave::detail::inline fft {

/// Makes the ring FFT on a CUDA device. Error  UsageError when this build has no CUDA.
std::unique_ptr<RingFft> make_cuda_ring_fft(RingFftShape shape);

}  // namespace ringweave::detail::inline fft
