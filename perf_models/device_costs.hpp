// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "perf_models/cost_curve.hpp"
#include "perf_models/exchange_model.hpp"

namespace ringweave::detail::inline perf_models {

/// The costs of a GPU that a rank does not share.
struct DeviceCosts {
  std::string name;

  // As the host's (Machine), for data on the device; every ring is summed.
  CostCurve legendre_scalar;
  CostCurve legendre_spin;
  CostCurve ring_fft;
  CostCurve ring_fft_modes;
  // Size and unit: a byte of a_lm or maps, from the host's memory and back.
  CostCurve to_device;
  CostCurve to_host;
  // Measured seconds over those RingConvolutionPlan predicts of one thread of the host, stencil and
  // sectors together, of scalar maps; fields of spin are taken to be alike. Size: pixels of the
  // longest ring.
  CostCurve convolution_pixels;
  CostCurve convolution_ring_fft;
  CostCurve convolution_modes;
  CostCurve point_sums;  ///< with copies of the values
  /// Messages that MPI sends from and receives in device memory; empty if MPI cannot, or if their
  /// time is unknown. Ring modes are then exchanged through the host.
  std::optional<Network> network;
};

/// Timed stages of a machine or of a device, by the names of their costs in a machine file.
struct StageSamples {
  std::map<std::string, std::vector<Sample>> stages;
  std::vector<MessageSample> messages;  ///< of a device: from its memory
};

/// Fits the costs of the named device. Error  UsageError when a stage has no sample.
DeviceCosts fit_device(const std::string& name, StageSamples samples);

}  // namespace ringweave::detail::inline perf_models
