// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>

#include "base/device.hpp"
#include "base/device_buffer.hpp"
#include "bench/cuda/device_rates.hpp"
#include "bench/device_timing.hpp"

namespace ringweave::detail {
namespace {

constexpr int chains = 8;
constexpr int block_threads = 256;
constexpr int rounds = 4096;

__global__ void __launch_bounds__(block_threads) multiply_add(double* keep, double a, double b) {
  double value[chains];
#pragma unroll
  for (int i = 0; i < chains; ++i) value[i] = threadIdx.x + i;
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int i = 0; i < chains; ++i) value[i] = value[i] * a + b;
  }
  double sum = 0;
#pragma unroll
  for (int i = 0; i < chains; ++i) sum += value[i];
  // Never true, but the compiler cannot know.
  if (sum == -1) *keep = sum;
}

}  // namespace

double device_fma_peak(const DeviceStream& stream) {
  DeviceBuffer<double> keep(1);
  const int blocks = 16 * device_properties().n_multiprocessors;
  const double operations = 2.0 * chains * rounds * block_threads * blocks;
  const double seconds = device_seconds(stream, [&] {
    multiply_add<<<static_cast<unsigned>(blocks), block_threads, 0,
                   static_cast<cudaStream_t>(stream.handle())>>>(keep.data(), 0.999, 0.001);
    check_device(cudaGetLastError(), "starting multiply-adds");
  });
  return operations / seconds;
}

CopyRates device_copy_rates(const DeviceStream& stream) {
  // Far larger than any cache.
  constexpr std::int64_t bytes = std::int64_t{1} << 30;
  DeviceBuffer<char> from(bytes);
  DeviceBuffer<char> to(bytes);
  DeviceBuffer<char, MemorySpace::pinned> host(bytes / 4);
  zero_device_memory(from.data(), bytes, stream);
  std::fill_n(host.data(), host.size(), char{1});
  CopyRates rates{};
  rates.on_device =
      2.0 * static_cast<double>(bytes) / device_seconds(stream, [&] {
        check_device(
            cudaMemcpyAsync(to.data(), from.data(), static_cast<std::size_t>(bytes),
                            cudaMemcpyDeviceToDevice, static_cast<cudaStream_t>(stream.handle())),
            "copying on the device");
      });
  const auto host_bytes = static_cast<double>(host.bytes());
  rates.to_device = host_bytes / device_seconds(stream, [&] {
                      copy_to_device(host.data(), to.data(), host.bytes(), stream);
                    });
  rates.to_host = host_bytes / device_seconds(stream, [&] {
                    copy_to_host(to.data(), host.data(), host.bytes(), stream);
                  });
  return rates;
}

}  // namespace ringweave::detail
