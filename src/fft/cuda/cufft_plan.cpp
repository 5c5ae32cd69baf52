// SPDX-License-Identifier: GPL-3.0-or-later
#include "fft/cuda/cufft_plan.hpp"

#include <cuda_runtime_api.h>
#include <cufft.h>

#include <string>
#include <utility>

#include "base/checked_cast.hpp"
#include "base/cuda/native_stream.hpp"
#include "fft/cuda/cufft_library.hpp"

namespace ringweave::detail::gpu {
namespace {

constexpr int no_plan = -1;

}  // namespace

// Delegates, so that the destructor runs if the constructor fails half way.
CufftPlan::CufftPlan(const FftSize& size, const DeviceStream& stream) : CufftPlan() {
  const CufftLibrary& cufft = CufftLibrary::get();
  const std::string what =
      "planning " + std::to_string(size.count) + " FFTs of length " + std::to_string(size.length);
  cufftHandle handle = no_plan;
  check_cufft(cufft.create(&handle), what);
  handle_ = handle;
  // All plans use the same work memory, one after the other.
  check_cufft(cufft.set_auto_allocation(handle, 0), what);
  check_cufft(cufft.set_stream(handle, native(stream)), what);
  long long length = size.length;
  std::size_t bytes = 0;
  check_cufft(cufft.make_plan_many(handle, 1, &length, nullptr, 1, length, nullptr, 1, length,
                                   CUFFT_Z2Z, size.count, &bytes),
              what);
  work_bytes_ = static_cast<std::int64_t>(bytes);
}

CufftPlan::CufftPlan(CufftPlan&& other) noexcept
    : handle_(std::exchange(other.handle_, no_plan)), work_bytes_(other.work_bytes_) {}

CufftPlan::~CufftPlan() {
  if (handle_ != no_plan) CufftLibrary::get().destroy(handle_);
}

void CufftPlan::work_in(void* memory) {
  check_cufft(CufftLibrary::get().set_work_area(handle_, memory), "giving an FFT its memory");
}

void CufftPlan::transform(FftSign sign, const Double2* from, Double2* to) const {
  // cuFFT takes a non-const input, but out-of-place complex FFTs do not write to it.
  auto* input = reinterpret_cast<cufftDoubleComplex*>(const_cast<Double2*>(from));
  check_cufft(CufftLibrary::get().execute(handle_, input, reinterpret_cast<cufftDoubleComplex*>(to),
                                          sign == FftSign::forward ? CUFFT_FORWARD : CUFFT_INVERSE),
              "starting FFTs");
}

}  // namespace ringweave::detail::gpu
