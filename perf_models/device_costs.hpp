// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "perf_models/cost_curve.hpp"
#include "perf_models/exchange_model.hpp"

namespace ringweave {

/// Costs of a GPU for a rank that has it to itself.
struct DeviceCosts {
  std::string name;

  // As on the host (Machine), for data in device memory; no theta resampling.
  CostCurve legendre_scalar;
  CostCurve legendre_spin;
  CostCurve ring_fft;
  CostCurve ring_fft_modes;
  // Size and unit: a byte of a_lm or maps copied from host memory and back.
  CostCurve to_device;
  CostCurve to_host;
  /// Messages sent directly from device memory. Empty when MPI cannot do this or it was never
  /// measured; ring modes are then staged through the host.
  std::optional<Network> network;
};

/// Timings of transforms on a device.
struct DeviceSamples {
  std::vector<Sample> legendre_scalar, legendre_spin, ring_fft, ring_fft_modes, to_device, to_host;
  std::vector<MessageSample> messages;  ///< from device memory
};

/// Fits the costs of the device `name`. Error  UsageError where a stage has no sample.
DeviceCosts fit_device(const std::string& name, const DeviceSamples& samples);

}  // namespace ringweave
