// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/cuda/cufft_plan.hpp"
#include "base/cuda/device_machine.cuh"

namespace ringweave::detail::gpu {

/// A DeviceMachine that also plans FFTs of rows.
class FftMachine : public DeviceMachine {
 public:
  using Fft = CufftPlan;

  using DeviceMachine::DeviceMachine;

  Fft plan_fft(const FftSize& size) const { return {size, stream()}; }
};

}  // namespace ringweave::detail::gpu
