// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "base/cuda/block_types.hpp"
#include "base/cuda/cufft_plan.hpp"
#include "base/device.hpp"
#include "fft/cuda/device_plane_plan.hpp"

namespace ringweave::detail::gpu {

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
