// SPDX-License-Identifier: GPL-3.0-or-later
#include "fft/fft_library.hpp"

#include <fftw3.h>

namespace ringweave {

std::string fft_library_version() { return fftw_version; }

}  // namespace ringweave
