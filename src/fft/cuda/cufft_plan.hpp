// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "base/cuda/block_types.hpp"
#include "base/device.hpp"
#include "fft/cuda/device_ring_plan.hpp"

namespace ringweave::detail::gpu {

/// Complex FFTs of one length with cuFFT, in stream order. Move only. Error  ResourceError.
class CufftPlan {
 public:
  CufftPlan(const FftSize& size, const DeviceStream& stream);
  CufftPlan(CufftPlan&& other) noexcept;
  CufftPlan& operator=(CufftPlan&&) = delete;
  ~CufftPlan();

  std::int64_t work_bytes() const { return work_bytes_; }
  void work_in(void* memory);
  void transform(FftSign sign, const Double2* from, Double2* to) const;

 private:
  CufftPlan() = default;

  int handle_ = -1;
  std::int64_t work_bytes_ = 0;
};

}  // namespace ringweave::detail::gpu
