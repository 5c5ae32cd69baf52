// SPDX-License-Identifier: GPL-3.0-or-later
#include "fft/cuda/cufft_plan.hpp"

#include <cuda_runtime_api.h>
#include <cufft.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/checked_cast.hpp"
#include "base/cuda/native_stream.hpp"
#include "fft/cuda/cufft_library.hpp"

namespace ringweave::detail::gpu {
namespace {

constexpr int no_plan = -1;

constexpr const char* start = "starting FFTs";

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

cufftDoubleComplex* complex(Double2* numbers) {
  return reinterpret_cast<cufftDoubleComplex*>(numbers);
}

}  // namespace

// Delegates, so that the destructor runs if the constructor fails half way.
CufftHandle::CufftHandle(const Size& size, const DeviceStream& stream, const std::string& what)
    : CufftHandle() {
  const CufftLibrary& cufft = CufftLibrary::get();
  cufftHandle handle = no_plan;
  check_cufft(cufft.create(&handle), what);
  handle_ = handle;
  // All plans use the same work memory, one after the other.
  check_cufft(cufft.set_auto_allocation(handle, 0), what);
  check_cufft(cufft.set_stream(handle, native(stream)), what);
  long long lengths[2] = {size.lengths[0], size.lengths[1]};
  std::size_t bytes = 0;
  check_cufft(cufft.make_plan_many(handle, size.rank, lengths, nullptr, 1, size.in_distance,
                                   nullptr, 1, size.out_distance, static_cast<cufftType>(size.type),
                                   size.count, &bytes),
              what);
  work_bytes_ = static_cast<std::int64_t>(bytes);
}

CufftHandle::CufftHandle(CufftHandle&& other) noexcept
    : handle_(std::exchange(other.handle_, no_plan)), work_bytes_(other.work_bytes_) {}

CufftHandle::~CufftHandle() {
  if (handle_ != no_plan) CufftLibrary::get().destroy(handle_);
}

void CufftHandle::work_in(void* memory) {
  check_cufft(CufftLibrary::get().set_work_area(handle_, memory), "giving an FFT its memory");
}

CufftPlan::CufftPlan(const FftSize& size, const DeviceStream& stream)
    : handle_({1, {size.length, 1}, CUFFT_Z2Z, size.count, size.length, size.length}, stream,
              "planning " + std::to_string(size.count) + " FFTs of length " +
                  std::to_string(size.length)) {}

void CufftPlan::transform(FftSign sign, const Double2* from, Double2* to) const {
  // cuFFT takes a non-const input, but out-of-place complex FFTs do not write to it.
  check_cufft(
      CufftLibrary::get().execute(handle_.get(), complex(const_cast<Double2*>(from)), complex(to),
                                  sign == FftSign::forward ? CUFFT_FORWARD : CUFFT_INVERSE),
      start);
}

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
      CufftLibrary::get().execute_real(forward_.get(), const_cast<double*>(from), complex(to)),
      start);
}

void CufftPlanePlan::backward(Double2* from, double* to) const {
  check_cufft(CufftLibrary::get().execute_inverse(backward_.get(), complex(from), to), start);
}

}  // namespace ringweave::detail::gpu
