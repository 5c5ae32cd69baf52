// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/cuda/block_types.hpp"
#include "base/cuda/native_stream.hpp"
#include "base/cuda/thread_block.cuh"
#include "base/device_buffer.hpp"

namespace ringweave::detail::gpu {

/// The only __global__ function: runs a launch in every block. A multiprocessor must hold at least
/// Work::least_blocks of them, which limits their registers.
template <class Work>
__global__ void __launch_bounds__(block_threads, Work::least_blocks)
    run_launch(const __grid_constant__ Work work) {
  __shared__ typename Work::Shared shared;
  work(DeviceBlock(), shared);
}

/// Runs launches on a device in stream order.
class DeviceMachine {
 public:
  template <class T>
  using Buffer = DeviceBuffer<T>;

  explicit DeviceMachine(const DeviceStream& stream) : stream_(&stream) {}
  /// Waits for launches, so that buffers they use may be freed.
  void finish() const noexcept { stream_->finish(); }

  template <class T>
  Buffer<T> allocate(std::int64_t size) const {
    return Buffer<T>(size);
  }
  /// Blocks until the values have arrived.
  template <class T>
  Buffer<T> upload(const T* values, std::int64_t size) const {
    Buffer<T> buffer(size);
    if (size == 0) return buffer;
    copy_to_device(values, buffer.data(), buffer.bytes(), *stream_);
    stream_->synchronize();
    return buffer;
  }
  template <class T>
  Buffer<T> upload(const std::vector<T>& values) const {
    return upload(values.data(), ssize64(values));
  }
  template <class Work>
  void launch(const Work& work, std::int64_t n_blocks) const {
    if (n_blocks == 0) return;
    const auto blocks =
        static_cast<unsigned>(checked_cast<std::int32_t>(n_blocks, "blocks of a device launch"));
    run_launch<<<blocks, block_threads, 0, native(*stream_)>>>(work);
    check_device(cudaGetLastError(), "starting a launch");
  }

 protected:
  const DeviceStream& stream() const { return *stream_; }

 private:
  const DeviceStream* stream_;
};

}  // namespace ringweave::detail::gpu
