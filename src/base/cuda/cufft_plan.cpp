// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/cuda/cufft_plan.hpp"

#include <cuda_runtime_api.h>
#include <cufft.h>

#include <string>
#include <utility>

#include "base/cuda/cufft_library.hpp"
#include "base/cuda/native_stream.hpp"

namespace ringweave::detail::gpu {
namespace {

constexpr int no_plan = -1;

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
      "starting FFTs");
}

}  // namespace ringweave::detail::gpu
