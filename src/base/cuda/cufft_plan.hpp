// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

#include "base/cuda/block_types.hpp"
#include "base/cuda/fft_size.hpp"
#include "base/device.hpp"

namespace ringweave::detail::gpu {

/// Owns a plan of cuFFT, whose work memory is given later. Move only. Error  ResourceError.
class CufftHandle {
 public:
  /// Contiguous FFTs of one size.
  struct Size {
    int rank;
    long long lengths[2];  ///< the last one is contiguous
    int type;              ///< a cufftType
    long long count;
    long long in_distance;  ///< elements from one input to the next
    long long out_distance;
  };
  CufftHandle(const Size& size, const DeviceStream& stream, const std::string& what);
  CufftHandle(CufftHandle&& other) noexcept;
  CufftHandle& operator=(CufftHandle&&) = delete;
  ~CufftHandle();

  int get() const { return handle_; }
  std::int64_t work_bytes() const { return work_bytes_; }
  void work_in(void* memory);

 private:
  CufftHandle() = default;

  int handle_ = -1;
  std::int64_t work_bytes_ = 0;
};

/// Complex FFTs of one length with cuFFT, in stream order.
class CufftPlan {
 public:
  CufftPlan(const FftSize& size, const DeviceStream& stream);

  std::int64_t work_bytes() const { return handle_.work_bytes(); }
  void work_in(void* memory) { handle_.work_in(memory); }
  void transform(FftSign sign, const Double2* from, Double2* to) const;

 private:
  CufftHandle handle_;
};

}  // namespace ringweave::detail::gpu
