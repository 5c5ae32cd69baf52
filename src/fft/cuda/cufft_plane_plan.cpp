// SPDX-License-Identifier: GPL-3.0-or-later
#include "fft/cuda/cufft_plane_plan.hpp"

#include <cufft.h>

#include <algorithm>
#include <string>

#include "base/cuda/cufft_library.hpp"

namespace ringweave::detail::gpu {
namespace {

constexpr const char* start = "starting FFTs of planes";

std::string text_of(const PlaneFftSize& size) {
  return "planning " + std::to_string(size.count) + " FFTs of " + std::to_string(size.y_length) +
         " x " + std::to_string(size.x_length) + " values";
}

CufftHandle plane_handle(const PlaneFftSize& size, cufftType type, const DeviceStream& stream) {
  const bool is_forward = type == CUFFT_D2Z;
  return {{2,
           {size.y_length, size.x_length},
           type,
           size.count,
           is_forward ? size.n_values() : size.n_numbers(),
           is_forward ? size.n_numbers() : size.n_values()},
          stream,
          text_of(size)};
}

cufftDoubleComplex* numbers(Double2* of) { return reinterpret_cast<cufftDoubleComplex*>(of); }

}  // namespace

CufftPlanePlan::CufftPlanePlan(const PlaneFftSize& size, const DeviceStream& stream)
    : forward_(plane_handle(size, CUFFT_D2Z, stream)),
      backward_(plane_handle(size, CUFFT_Z2D, stream)) {}

std::int64_t CufftPlanePlan::work_bytes() const {
  return std::max(forward_.work_bytes(), backward_.work_bytes());
}

void CufftPlanePlan::work_in(void* memory) {
  forward_.work_in(memory);
  backward_.work_in(memory);
}

void CufftPlanePlan::forward(const double* from, Double2* to) const {
  // Out-of-place FFTs of real values do not write to their input either.
  check_cufft(
      CufftLibrary::get().execute_real(forward_.get(), const_cast<double*>(from), numbers(to)),
      start);
}

void CufftPlanePlan::backward(Double2* from, double* to) const {
  check_cufft(CufftLibrary::get().execute_inverse(backward_.get(), numbers(from), to), start);
}

}  // namespace ringweave::detail::gpu
