// SPDX-License-Identifier: GPL-3.0-or-later
// The functions of cuFFT that the ring FFT uses, by FFTW: complex FFTs in double precision of one
// dimension, contiguous, many at a time.
#include <cufft.h>
#include <fftw3.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "softdevice/findings.hpp"
#include "softdevice/machine/counts.hpp"
#include "softdevice/runtime/runtime.hpp"
#include "softdevice/settings.hpp"

namespace softdevice {
namespace {

struct Plan {
  bool allocates = true;
  long long length = 0;
  long long count = 0;
  std::size_t work_bytes = 0;
  std::uint64_t work = 0;
  cudaStream_t stream = nullptr;
};

std::mutex mutex;
std::map<cufftHandle, Plan> plans;
cufftHandle next_handle = 1;

Plan* plan_of(cufftHandle handle) {
  const auto found = plans.find(handle);
  return found == plans.end() ? nullptr : &found->second;
}

/// Does FFTs as often as the plan says, out of place or in place.
void transform(const Plan& plan, std::byte* from, std::byte* to, int sign) {
  const int length = static_cast<int>(plan.length);
  auto* in = reinterpret_cast<fftw_complex*>(from);
  auto* out = reinterpret_cast<fftw_complex*>(to);
  const fftw_plan fft =
      fftw_plan_many_dft(1, &length, static_cast<int>(plan.count), in, nullptr, 1, length, out,
                         nullptr, 1, length, sign, FFTW_ESTIMATE | FFTW_UNALIGNED);
  fftw_execute(fft);
  fftw_destroy_plan(fft);
}

void run(const Plan& plan, std::uint64_t from, std::uint64_t to, int sign, OrderedMemory& memory,
         const Operation& operation) {
  const auto bytes = static_cast<std::uint64_t>(plan.length * plan.count) * sizeof(fftw_complex);
  // At least: every row is read and written once.
  LaunchCounts counts;
  counts.launches = 1;
  counts.global_bytes = 2 * bytes;
  counts.global_sectors = counts.distinct_sectors = counts.global_bytes / 32;
  Program kernel;
  kernel.name = "FFTs of cuFFT";
  add_counts(kernel, counts);
  if (settings().sample > 1) return;
  const auto tell = [&](const char* problem) {
    if (*problem != 0) find(std::string("global memory: ") + problem, operation.name);
  };
  bool is_defined = true;
  tell(memory.read_range(from, bytes, is_defined));
  if (!is_defined && settings().checks)
    find("FFT of values that were never written", operation.name);
  // What it leaves in its memory is of no use to others.
  if (plan.work_bytes > 0) {
    tell(memory.write_range(plan.work, plan.work_bytes));
    if (memory.has_bytes(plan.work, plan.work_bytes))
      std::memset(memory.bytes_at(plan.work), 0xff, plan.work_bytes);
  }
  tell(memory.write_range(to, bytes));
  if (memory.has_bytes(from, bytes) && memory.has_bytes(to, bytes))
    transform(plan, memory.bytes_at(from), memory.bytes_at(to), sign);
}

}  // namespace
}  // namespace softdevice

using namespace softdevice;

extern "C" {

cufftResult cufftCreate(cufftHandle* handle) {
  const std::lock_guard lock(mutex);
  *handle = next_handle++;
  plans[*handle] = {};
  return CUFFT_SUCCESS;
}

cufftResult cufftDestroy(cufftHandle handle) {
  const std::lock_guard lock(mutex);
  return plans.erase(handle) == 1 ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}

cufftResult cufftSetAutoAllocation(cufftHandle handle, int allocates) {
  const std::lock_guard lock(mutex);
  Plan* plan = plan_of(handle);
  if (plan == nullptr) return CUFFT_INVALID_PLAN;
  plan->allocates = allocates != 0;
  return CUFFT_SUCCESS;
}

cufftResult cufftMakePlanMany64(cufftHandle handle, int rank, long long* length,
                                long long* in_embed, long long in_stride, long long in_distance,
                                long long* out_embed, long long out_stride, long long out_distance,
                                cufftType type, long long count, std::size_t* work_bytes) {
  const std::lock_guard lock(mutex);
  Plan* plan = plan_of(handle);
  if (plan == nullptr || plan->length != 0) return CUFFT_INVALID_PLAN;
  if (rank != 1 || type != CUFFT_Z2Z || in_embed != nullptr || out_embed != nullptr ||
      in_stride != 1 || out_stride != 1 || in_distance != *length || out_distance != *length ||
      plan->allocates)
    return CUFFT_NOT_SUPPORTED;
  if (*length < 1 || count < 1) return CUFFT_INVALID_SIZE;
  plan->length = *length;
  plan->count = count;
  plan->work_bytes = static_cast<std::size_t>(*length * count) * sizeof(fftw_complex);
  *work_bytes = plan->work_bytes;
  return CUFFT_SUCCESS;
}

cufftResult cufftSetWorkArea(cufftHandle handle, void* memory) {
  const std::lock_guard lock(mutex);
  Plan* plan = plan_of(handle);
  if (plan == nullptr || plan->length == 0) return CUFFT_INVALID_PLAN;
  plan->work = reinterpret_cast<std::uint64_t>(memory);
  return CUFFT_SUCCESS;
}

cufftResult cufftSetStream(cufftHandle handle, cudaStream_t stream) {
  const std::lock_guard lock(mutex);
  Plan* plan = plan_of(handle);
  if (plan == nullptr) return CUFFT_INVALID_PLAN;
  plan->stream = stream;
  return CUFFT_SUCCESS;
}

cufftResult cufftExecZ2Z(cufftHandle handle, cufftDoubleComplex* from, cufftDoubleComplex* to,
                         int direction) {
  const std::lock_guard lock(mutex);
  const Plan* plan = plan_of(handle);
  if (plan == nullptr || plan->length == 0 || plan->work == 0) return CUFFT_INVALID_PLAN;
  const auto in = reinterpret_cast<std::uint64_t>(from);
  const auto out = reinterpret_cast<std::uint64_t>(to);
  if (in % sizeof(fftw_complex) != 0 || out % sizeof(fftw_complex) != 0)
    find("FFT of numbers that are not aligned", "cufftExecZ2Z");
  if (plan->stream == nullptr) find("default stream", "cufftExecZ2Z");
  const Call call;
  const cudaError_t status = call.runtime.enqueue(
      plan->stream, "FFTs of length " + std::to_string(plan->length),
      [plan = *plan, in, out, direction](OrderedMemory& memory, const Operation& operation,
                                         Moment) {
        run(plan, in, out, direction == CUFFT_FORWARD ? FFTW_FORWARD : FFTW_BACKWARD, memory,
            operation);
      });
  return status == cudaSuccess ? CUFFT_SUCCESS : CUFFT_EXEC_FAILED;
}
}
