// SPDX-License-Identifier: GPL-3.0-or-later
// Loads cuBLAS and cuFFT at run time, so that the bench starts where they are not installed.
#include <cublas_v2.h>
#include <cufft.h>
#include <dlfcn.h>

#include <algorithm>
#include <complex>
#include <random>
#include <string>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/device_buffer.hpp"
#include "bench/cuda/device_rates.hpp"
#include "bench/device_timing.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail {
namespace {

/// Loads a shared library of CUDA; empty if it is missing.
class Library {
 public:
  explicit Library(const std::string& soname) {
    for (const std::string& folder : {std::string(), std::string(RINGWEAVE_CUDA_FOLDER) + "/"}) {
      if (handle_ == nullptr) handle_ = dlopen((folder + soname).c_str(), RTLD_NOW | RTLD_LOCAL);
    }
  }
  explicit operator bool() const { return handle_ != nullptr; }
  template <class Function>
  Function* find(const char* name) const {
    auto* const function = reinterpret_cast<Function*>(dlsym(handle_, name));
    if (function == nullptr) throw ResourceError(std::string("GPU: no function ") + name);
    return function;
  }

 private:
  void* handle_ = nullptr;
};

void require(int status, const char* what) {
  if (status == 0) return;
  throw ResourceError(std::string("GPU: ") + what + " returned " + std::to_string(status));
}

}  // namespace

void fill_with_numbers(const DeviceStream& stream, double* memory, std::int64_t count) {
  constexpr std::int64_t most = std::int64_t{1} << 22;
  std::vector<double> values(to_size(std::min(count, most)));
  std::mt19937_64 engine(1);
  for (double& value : values) value = std::uniform_real_distribution<double>(-1, 1)(engine);
  for (std::int64_t done = 0; done < count; done += most) {
    const std::int64_t n = std::min(most, count - done);
    copy_to_device(values.data(), memory + done, n * std::int64_t{sizeof(double)}, stream);
  }
  stream.synchronize();
}

std::optional<double> device_dgemm_rate(const DeviceStream& stream, int n) {
  const Library library("libcublas.so." + std::to_string(CUBLAS_VER_MAJOR));
  if (!library) return std::nullopt;
  const std::int64_t size = std::int64_t{n} * n;
  DeviceBuffer<double> a(size);
  DeviceBuffer<double> b(size);
  DeviceBuffer<double> c(size);
  for (auto* matrix : {&a, &b}) fill_with_numbers(stream, matrix->data(), size);
  auto* const gemm = library.find<decltype(cublasDgemm_v2)>("cublasDgemm_v2");
  cublasHandle_t handle = nullptr;
  require(library.find<decltype(cublasCreate_v2)>("cublasCreate_v2")(&handle), "cublasCreate");
  require(library.find<decltype(cublasSetStream_v2)>("cublasSetStream_v2")(
              handle, static_cast<cudaStream_t>(stream.handle())),
          "cublasSetStream");
  const double one = 1;
  const double zero = 0;
  const double seconds = device_seconds(stream, [&] {
    require(gemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a.data(), n, b.data(), n, &zero,
                 c.data(), n),
            "cublasDgemm");
  });
  library.find<decltype(cublasDestroy_v2)>("cublasDestroy_v2")(handle);
  return 2.0 * n * n * n / seconds;
}

std::optional<FftSeconds> device_fft_seconds(const DeviceStream& stream, std::int64_t length,
                                             std::int64_t count) {
  const Library library("libcufft.so." + std::to_string(CUFFT_VER_MAJOR));
  if (!library) return std::nullopt;
  auto* const plan_many = library.find<decltype(cufftPlanMany)>("cufftPlanMany");
  auto* const set_stream = library.find<decltype(cufftSetStream)>("cufftSetStream");
  auto* const destroy = library.find<decltype(cufftDestroy)>("cufftDestroy");
  DeviceBuffer<double> pixels(length * count);
  DeviceBuffer<std::complex<double>> modes((length / 2 + 1) * count);
  fill_with_numbers(stream, pixels.data(), pixels.size());
  fill_with_numbers(stream, reinterpret_cast<double*>(modes.data()), 2 * modes.size());
  const auto seconds_of = [&](cufftType type, const auto& execute) {
    int n = checked_cast<int>(length, "length of an FFT");
    cufftHandle plan = 0;
    require(plan_many(&plan, 1, &n, nullptr, 1, 0, nullptr, 1, 0, type,
                      checked_cast<int>(count, "number of FFTs")),
            "cufftPlanMany");
    require(set_stream(plan, static_cast<cudaStream_t>(stream.handle())), "cufftSetStream");
    const double seconds = device_seconds(stream, [&] { require(execute(plan), "cufftExec"); });
    destroy(plan);
    return seconds;
  };
  auto* const to_pixels = library.find<decltype(cufftExecZ2D)>("cufftExecZ2D");
  auto* const to_modes = library.find<decltype(cufftExecD2Z)>("cufftExecD2Z");
  auto* const values = reinterpret_cast<cufftDoubleComplex*>(modes.data());
  return FftSeconds{
      seconds_of(CUFFT_Z2D,
                 [&](cufftHandle plan) { return to_pixels(plan, values, pixels.data()); }),
      seconds_of(CUFFT_D2Z,
                 [&](cufftHandle plan) { return to_modes(plan, pixels.data(), values); })};
}

}  // namespace ringweave::detail
