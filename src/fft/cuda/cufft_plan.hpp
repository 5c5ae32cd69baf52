// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

#include "base/cuda/block_types.hpp"
#include "base/device.hpp"
#include "fft/cuda/device_plane_plan.hpp"
#include "fft/cuda/device_ring_plan.hpp"

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

/// Real FFTs of planes of one size with cuFFT, in stream order.
class CufftPlanePlan {
 public:
  CufftPlanePlan(const PlaneFftSize& size, const DeviceStream& stream);

  std::int64_t work_bytes() const;
  void work_in(void* memory);
  void forward(const double* from, Double2* to) const;
  /// from  its contents are lost
  void backward(Double2* from, double* to) const;

 private:
  CufftHandle forward_;
  CufftHandle backward_;
};

}  // namespace ringweave::detail::gpu
