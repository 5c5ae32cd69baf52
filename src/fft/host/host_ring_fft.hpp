// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include "fft/ring_fft.hpp"

namespace ringweave::detail::inline fft {

/// Makes the ring FFT on the host: FFTW, and OpenMP over blocks of rings. Error  UsageError when
/// the shape is inconsistent.
std::unique_ptr<RingFft> make_host_ring_fft(RingFftShape shape);

}  // namespace ringweave::detail::inline fft
