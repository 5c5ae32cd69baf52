// SPDX-License-Identifier: GPL-3.0-or-later
#include "fft/host/backward_fft.hpp"

#include <fftw3.h>

#include <string>

#include "base/checked_cast.hpp"
#include "fft/host/fftw_planner.hpp"
#include "ringweave/error.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline fft {
namespace {

fftw_complex* as_fftw(std::complex<double>* data) { return reinterpret_cast<fftw_complex*>(data); }

// FFTW does not write to the input of a plan made with FFTW_PRESERVE_INPUT.
fftw_complex* as_fftw(const std::complex<double>* data) {
  return as_fftw(const_cast<std::complex<double>*>(data));
}

}  // namespace

const BackwardFft& BackwardFft::of_length(std::int64_t length) {
  return shared_plans<BackwardFft>(length);
}

BackwardFft::BackwardFft(std::int64_t length) {
  HostBuffer<std::complex<double>> in(length);
  HostBuffer<std::complex<double>> out(length);
  const int n = checked_cast<int>(length, "FFT length");
  plan_ = fftw_plan_dft_1d(n, as_fftw(in.data()), as_fftw(out.data()), FFTW_BACKWARD,
                           FFTW_ESTIMATE | FFTW_PRESERVE_INPUT);
  if (plan_ == nullptr)
    throw InternalError("FFTW made no plan for a complex FFT of length " + std::to_string(length));
}

BackwardFft::~BackwardFft() { fftw_destroy_plan(plan_); }

void BackwardFft::execute(const std::complex<double>* in,
                          std::complex<double>* out) const noexcept {
  fftw_execute_dft(plan_, as_fftw(in), as_fftw(out));
}

bool BackwardFft::is_aligned(const void* begin) noexcept {
  return fftw_alignment_of(static_cast<double*>(const_cast<void*>(begin))) == 0;
}

}  // namespace ringweave::detail::inline fft
