// SPDX-License-Identifier: GPL-3.0-or-later
#include "fft/host/plane_ffts.hpp"

#include <fftw3.h>

#include <string>

#include "base/checked_cast.hpp"
#include "fft/host/fftw_planner.hpp"
#include "fft/host/plane_lanes.hpp"
#include "fft/host/ring_length.hpp"
#include "ringweave/error.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline fft {
namespace {

/// Plans the sign -, which is the sign + with exchanged real and imaginary parts.
fftw_plan_s* plan_strip(std::int64_t length) {
  const std::int64_t width = plane_lanes::width();
  HostBuffer<double> in(2 * length * width);
  HostBuffer<double> out(2 * length * width);
  const int n = checked_cast<int>(length, "FFT length");
  const int lanes = checked_cast<int>(width, "vector lanes");
  const fftw_iodim along{n, 2 * lanes, 2 * lanes};
  const fftw_iodim across{lanes, 1, 1};
  fftw_plan_s* plan =
      fftw_plan_guru_split_dft(1, &along, 1, &across, in.data() + width, in.data(),
                               out.data() + width, out.data(), FFTW_ESTIMATE | FFTW_DESTROY_INPUT);
  if (plan == nullptr)
    throw InternalError("FFTW made no plan for a plane's FFT of length " + std::to_string(length));
  return plan;
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
