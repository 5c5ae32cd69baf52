// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/cuda/device_machine.cuh"
#include "fft/cuda/cufft_plane_plan.hpp"

namespace ringweave::detail::gpu {

/// A DeviceMachine that also plans FFTs of planes.
class PlaneMachine : public DeviceMachine {
 public:
  using PlaneFft = CufftPlanePlan;

  using DeviceMachine::DeviceMachine;

  PlaneFft plan_plane_fft(const PlaneFftSize& size) const { return {size, stream()}; }
};

}  // namespace ringweave::detail::gpu
