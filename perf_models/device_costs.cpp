// SPDX-License-Identifier: GPL-3.0-or-later
#include "perf_models/device_costs.hpp"

#include "perf_models/machine_curves.hpp"

namespace ringweave::detail::inline perf_models {

DeviceCosts fit_device(const std::string& name, StageSamples samples) {
  DeviceCosts device;
  device.name = name;
  for (const auto& [stage, curve] : device_curves) device.*curve = fit_curve(samples.stages[stage]);
  device.network = fit_network_if_enough(samples.messages);
  return device;
}

}  // namespace ringweave::detail::inline perf_models
