// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace ringweave {

/// Name and version of the FFT library the host backend was linked with, "fftw-3.3.10-sse2-avx".
std::string fft_library_version();

}  // namespace ringweave
