// SPDX-License-Identifier: GPL-3.0-or-later
// The functions of cuFFT that we use, by FFTW, in double precision: complex FFTs of one dimension
// and real FFTs of planes, contiguous, many at a time.
#include <cufft.h>
#include <fftw3.h>

#include <algorithm>
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
  cufftType type = CUFFT_Z2Z;
  int rank = 0;  ///< 0: not planned
  int lengths[2] = {};
  long long count = 0;
  std::size_t work_bytes = 0;
  std::uint64_t work = 0;
  cudaStream_t stream = nullptr;

  /// Values of one FFT, if they are real, and numbers of the half of its spectrum that is kept.
  long long n_values() const { return rank == 1 ? lengths[0] : 1LL * lengths[0] * lengths[1]; }
  long long n_halves() const { return 1LL * lengths[0] * (lengths[1] / 2 + 1); }
  std::uint64_t bytes(long long of_real, long long of_complex) const {
    return static_cast<std::uint64_t>(count) *
           (static_cast<std::uint64_t>(of_real) * sizeof(double) +
            static_cast<std::uint64_t>(of_complex) * sizeof(fftw_complex));
  }
  std::uint64_t input_bytes() const {
    if (type == CUFFT_Z2Z) return bytes(0, n_values());
    return type == CUFFT_D2Z ? bytes(n_values(), 0) : bytes(0, n_halves());
  }
  std::uint64_t output_bytes() const {
    if (type == CUFFT_Z2Z) return bytes(0, n_values());
    return type == CUFFT_D2Z ? bytes(0, n_halves()) : bytes(n_values(), 0);
  }
  std::string name() const {
    return "FFTs of length " + std::to_string(lengths[0]) +
           (rank == 1 ? "" : " x " + std::to_string(lengths[1]));
  }
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
  constexpr unsigned flags = FFTW_ESTIMATE | FFTW_UNALIGNED;
  const int count = static_cast<int>(plan.count);
  const int n_values = static_cast<int>(plan.n_values());
  const int n_halves = static_cast<int>(plan.n_halves());
  auto* const complex_in = reinterpret_cast<fftw_complex*>(from);
  auto* const complex_out = reinterpret_cast<fftw_complex*>(to);
  auto* const real_in = reinterpret_cast<double*>(from);
  auto* const real_out = reinterpret_cast<double*>(to);
  fftw_plan fft = nullptr;
  if (plan.type == CUFFT_Z2Z) {
    fft = fftw_plan_many_dft(1, plan.lengths, count, complex_in, nullptr, 1, n_values, complex_out,
                             nullptr, 1, n_values, sign, flags);
  } else if (plan.type == CUFFT_D2Z) {
    fft = fftw_plan_many_dft_r2c(2, plan.lengths, count, real_in, nullptr, 1, n_values, complex_out,
                                 nullptr, 1, n_halves, flags);
  } else {
    fft = fftw_plan_many_dft_c2r(2, plan.lengths, count, complex_in, nullptr, 1, n_halves, real_out,
                                 nullptr, 1, n_values, flags);
  }
  fftw_execute(fft);
  fftw_destroy_plan(fft);
}

void run(const Plan& plan, std::uint64_t from, std::uint64_t to, int sign, OrderedMemory& memory,
         const Operation& operation) {
  const std::uint64_t in_bytes = plan.input_bytes();
  const std::uint64_t out_bytes = plan.output_bytes();
  // At least: every number is read and written once.
  LaunchCounts counts;
  counts.launches = 1;
  counts.global_bytes = in_bytes + out_bytes;
  counts.global_sectors = counts.distinct_sectors = counts.global_bytes / 32;
  Program kernel;
  kernel.name = "FFTs of cuFFT";
  add_counts(kernel, counts);
  if (settings().sample > 1) return;
  const auto tell = [&](const char* problem) {
    if (*problem != 0) find(std::string("global memory: ") + problem, operation.name);
  };
  bool is_defined = true;
  tell(memory.read_range(from, in_bytes, is_defined));
  if (!is_defined && settings().checks)
    find("FFT of values that were never written", operation.name);
  // What it leaves in its memory is of no use to others.
  if (plan.work_bytes > 0) {
    tell(memory.write_range(plan.work, plan.work_bytes));
    if (memory.has_bytes(plan.work, plan.work_bytes))
      std::memset(memory.bytes_at(plan.work), 0xff, plan.work_bytes);
  }
  tell(memory.write_range(to, out_bytes));
  // FFTs to real planes leave nothing of use in their input.
  const bool loses_input = plan.type == CUFFT_Z2D;
  if (loses_input) tell(memory.write_range(from, in_bytes));
  if (!memory.has_bytes(from, in_bytes) || !memory.has_bytes(to, out_bytes)) return;
  transform(plan, memory.bytes_at(from), memory.bytes_at(to), sign);
  if (loses_input) std::memset(memory.bytes_at(from), 0xff, in_bytes);
}

/// Enqueues the FFTs of a plan, which are of this type.
cufftResult enqueue(cufftHandle handle, cufftType type, void* from, void* to, int sign) {
  const std::lock_guard lock(mutex);
  const Plan* plan = plan_of(handle);
  if (plan == nullptr || plan->rank == 0 || plan->work == 0 || plan->type != type)
    return CUFFT_INVALID_PLAN;
  const auto in = reinterpret_cast<std::uint64_t>(from);
  const auto out = reinterpret_cast<std::uint64_t>(to);
  if (in % sizeof(fftw_complex) != 0 || out % sizeof(fftw_complex) != 0)
    find("FFT of numbers that are not aligned", plan->name());
  if (plan->stream == nullptr) find("default stream", plan->name());
  const Call call;
  const cudaError_t status = call.runtime.enqueue(
      plan->stream, plan->name(),
      [plan = *plan, in, out, sign](OrderedMemory& memory, const Operation& operation, Moment) {
        run(plan, in, out, sign, memory, operation);
      });
  return status == cudaSuccess ? CUFFT_SUCCESS : CUFFT_EXEC_FAILED;
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
  if (plan == nullptr || plan->rank != 0) return CUFFT_INVALID_PLAN;
  const bool is_complex = rank == 1 && type == CUFFT_Z2Z;
  const bool is_plane = rank == 2 && (type == CUFFT_D2Z || type == CUFFT_Z2D);
  if (!(is_complex || is_plane) || in_embed != nullptr || out_embed != nullptr || plan->allocates)
    return CUFFT_NOT_SUPPORTED;
  const long long last = is_plane ? length[1] : 1;
  if (*length < 1 || last < 1 || count < 1) return CUFFT_INVALID_SIZE;
  plan->rank = rank;
  plan->type = type;
  plan->lengths[0] = static_cast<int>(*length);
  plan->lengths[1] = static_cast<int>(last);
  plan->count = count;
  const long long halves = plan->n_halves();
  if (in_stride != 1 || out_stride != 1 ||
      in_distance != (type == CUFFT_Z2D ? halves : plan->n_values()) ||
      out_distance != (type == CUFFT_D2Z ? halves : plan->n_values()))
    return CUFFT_NOT_SUPPORTED;
  plan->work_bytes = std::max(plan->input_bytes(), plan->output_bytes());
  *work_bytes = plan->work_bytes;
  return CUFFT_SUCCESS;
}

cufftResult cufftSetWorkArea(cufftHandle handle, void* memory) {
  const std::lock_guard lock(mutex);
  Plan* plan = plan_of(handle);
  if (plan == nullptr || plan->rank == 0) return CUFFT_INVALID_PLAN;
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
  return enqueue(handle, CUFFT_Z2Z, from, to,
                 direction == CUFFT_FORWARD ? FFTW_FORWARD : FFTW_BACKWARD);
}

cufftResult cufftExecD2Z(cufftHandle handle, cufftDoubleReal* from, cufftDoubleComplex* to) {
  return enqueue(handle, CUFFT_D2Z, from, to, FFTW_FORWARD);
}

cufftResult cufftExecZ2D(cufftHandle handle, cufftDoubleComplex* from, cufftDoubleReal* to) {
  return enqueue(handle, CUFFT_Z2D, from, to, FFTW_BACKWARD);
}
}
