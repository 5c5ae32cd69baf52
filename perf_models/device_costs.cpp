// SPDX-License-Identifier: GPL-3.0-or-later
#include "perf_models/device_costs.hpp"

namespace ringweave::detail::inline perf_models {

DeviceCosts fit_device(const std::string& name, const DeviceSamples& samples) {
  return {
      .name = name,
      .legendre_scalar = fit_curve(samples.legendre_scalar),
      .legendre_spin = fit_curve(samples.legendre_spin),
      .ring_fft = fit_curve(samples.ring_fft),
      .ring_fft_modes = fit_curve(samples.ring_fft_modes),
      .to_device = fit_curve(samples.to_device),
      .to_host = fit_curve(samples.to_host),
      .network = fit_network_if_enough(samples.messages),
  };
}

}  // namespace ringweave::detail::inline perf_models
