// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "perf_models/cost_curve.hpp"
#include "perf_models/exchange_model.hpp"

namespace ringweave {

/// What a GPU costs the rank that has it for itself.
struct DeviceCosts {
  std::string name;

  // As the host's (Machine), for data that lie on the device; sums are formed on every ring.
  CostCurve legendre_scalar;
  CostCurve legendre_spin;
  CostCurve ring_fft;
  CostCurve ring_fft_modes;
  // Size and unit: a byte of a_lm or maps, from the host's memory and back.
  CostCurve to_device;
  CostCurve to_host;
  /// Messages that MPI takes from device memory and puts there; none: MPI cannot, or nobody knows
  /// how long it takes. Ring modes then go through the host.
  std::optional<Network> network;
};

/// Transforms that were timed on a device.
struct DeviceSamples {
  std::vector<Sample> legendre_scalar, legendre_spin, ring_fft, ring_fft_modes, to_device, to_host;
  std::vector<MessageSample> messages;  ///< from device memory
};

/// The costs of the device of this name. Error  UsageError where a stage has no sample.
DeviceCosts fit_device(const std::string& name, const DeviceSamples& samples);

}  // namespace ringweave
