// SPDX-License-Identifier: GPL-3.0-or-later
#include "fft/host/plane_ffts.hpp"

#include <fftw3.h>

#include <array>
#include <string>

#include "base/checked_cast.hpp"
#include "fft/host/fftw_planner.hpp"
#include "fft/host/plane_lanes.hpp"
#include "fft/host/ring_length.hpp"
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

/// Plans the sign -, which is the sign + with exchanged real and imaginary parts.
fftw_plan_s* plan_strip(std::int64_t length) {
  const std::int64_t width = plane_lanes::width();
  HostBuffer<double> in(2 * length * width);
  HostBuffer<double> out(2 * length * width);
  const int n = checked_cast<int>(length, "FFT length");
  const int lanes = checked_cast<int>(width, "vector lanes");
  const fftw_iodim along{n, 2 * lanes, 2 * lanes};
  const fftw_iodim across{lanes, 1, 1};
  return made(fftw_plan_guru_split_dft(1, &along, 1, &across, in.data() + width, in.data(),
                                       out.data() + width, out.data(), how_to_plan),
              length);
}

// Beyond this factor FFTW is faster.
constexpr int largest_lane_factor = 13;

bool has_small_factors(std::int64_t length) {
  for (int factor = 2; factor <= largest_lane_factor; ++factor) {
    while (length % factor == 0) length /= factor;
  }
  return length == 1;
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

StripFft::StripFft(std::int64_t length) {
  if (has_small_factors(length)) {
    lanes_.emplace(length);
  } else {
    plan_.emplace(plan_strip(length));
  }
}

double* StripFft::transform(double* data, double* other) const noexcept {
  if (lanes_) return plane_lanes::transform(*lanes_, data, other);
  const std::int64_t width = plane_lanes::width();
  fftw_execute_split_dft(plan_->get(), data + width, data, other + width, other);
  return other;
}

bool StripFft::is_in_place() const { return lanes_ && ssize64(lanes_->radices) % 2 == 0; }

}  // namespace ringweave::detail::inline fft
