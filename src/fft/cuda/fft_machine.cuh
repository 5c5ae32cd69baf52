// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/cuda/device_machine.cuh"
#include "fft/cuda/cufft_plan.hpp"

namespace ringweave::detail::gpu {

/// A DeviceMachine that also plans FFTs of rows and of planes.
class FftMachine : public DeviceMachine {
 public:
  using Fft = CufftPlan;
  using PlaneFft = CufftPlanePlan;

  explicit FftMachine(const DeviceStream& stream) : DeviceMachine(stream), stream_(&stream) {}

  Fft plan_fft(const FftSize& size) const { return {size, *stream_}; }
  PlaneFft plan_plane_fft(const PlaneFftSize& size) const { return {size, *stream_}; }

 private:
  const DeviceStream* stream_;
};

}  // namespace ringweave::detail::gpu
