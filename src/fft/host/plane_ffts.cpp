// SPDX-License-Identifier: GPL-3.0-or-later
#include "fft/host/plane_ffts.hpp"

#include <fftw3.h>

#include <string>

#include "base/checked_cast.hpp"
#include "fft/host/fftw_planner.hpp"
#include "ringweave/error.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline fft {
namespace {

constexpr unsigned how_to_plan = FFTW_ESTIMATE | FFTW_DESTROY_INPUT;

fftw_complex* as_fftw(std::complex<double>* data) { return reinterpret_cast<fftw_complex*>(data); }

/// Returns a plan that exists. Error  InternalError.
fftw_plan_s* made(fftw_plan_s* plan, std::int64_t length) {
  if (plan == nullptr)
    throw InternalError("FFTW made no plan for a plane's FFT of length " + std::to_string(length));
  return plan;
}

enum class Way { forward, backward };

fftw_plan_s* plan_row(std::int64_t length, Way way) {
  HostBuffer<double> real(length);
  HostBuffer<std::complex<double>> half(length / 2 + 1);
  const int n = checked_cast<int>(length, "FFT length");
  return made(way == Way::forward
                  ? fftw_plan_dft_r2c_1d(n, real.data(), as_fftw(half.data()), how_to_plan)
                  : fftw_plan_dft_c2r_1d(n, as_fftw(half.data()), real.data(), how_to_plan),
              length);
}

fftw_plan_s* plan_strip(std::int64_t length, int sign) {
  HostBuffer<std::complex<double>> in(length * strip_width);
  HostBuffer<std::complex<double>> out(length * strip_width);
  const int n = checked_cast<int>(length, "FFT length");
  constexpr int width = static_cast<int>(strip_width);
  return made(fftw_plan_many_dft(1, &n, width, as_fftw(in.data()), nullptr, width, 1,
                                 as_fftw(out.data()), nullptr, width, 1, sign, how_to_plan),
              length);
}

}  // namespace

FftwPlan::~FftwPlan() { fftw_destroy_plan(plan_); }

const RowFft& RowFft::of_length(std::int64_t length) { return shared_plans<RowFft>(length); }

RowFft::RowFft(std::int64_t length)
    : forward_(plan_row(length, Way::forward)), backward_(plan_row(length, Way::backward)) {}

void RowFft::forward(double* in, std::complex<double>* out) const noexcept {
  fftw_execute_dft_r2c(forward_.get(), in, as_fftw(out));
}

void RowFft::backward(std::complex<double>* in, double* out) const noexcept {
  fftw_execute_dft_c2r(backward_.get(), as_fftw(in), out);
}

const StripFft& StripFft::of_length(std::int64_t length) { return shared_plans<StripFft>(length); }

StripFft::StripFft(std::int64_t length)
    : forward_(plan_strip(length, FFTW_FORWARD)), backward_(plan_strip(length, FFTW_BACKWARD)) {}

void StripFft::forward(std::complex<double>* in, std::complex<double>* out) const noexcept {
  fftw_execute_dft(forward_.get(), as_fftw(in), as_fftw(out));
}

void StripFft::backward(std::complex<double>* in, std::complex<double>* out) const noexcept {
  fftw_execute_dft(backward_.get(), as_fftw(in), as_fftw(out));
}

}  // namespace ringweave::detail::inline fft
