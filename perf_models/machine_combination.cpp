// SPDX-License-Identifier: GPL-3.0-or-later
#include "perf_models/machine_combination.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "perf_models/machine_curves.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline perf_models {
namespace {

void require_alike(const Machine& one, const Machine& other) {
  const auto require = [](bool is_alike, const char* what, const std::string& a,
                          const std::string& b) {
    if (is_alike) return;
    throw UsageError(std::string("calibrations to combine must be alike, and ") + what + " is " +
                     a + " in one and " + b + " in another");
  };
  const auto device = [](const Machine& of) { return of.device ? of.device->name : "none"; };
  require(one.name == other.name, "the processor", one.name, other.name);
  require(one.n_ranks == other.n_ranks, "the number of ranks", std::to_string(one.n_ranks),
          std::to_string(other.n_ranks));
  require(one.n_threads == other.n_threads, "the number of threads", std::to_string(one.n_threads),
          std::to_string(other.n_threads));
  require(device(one) == device(other), "the device", device(one), device(other));
}

/// Returns the same curve of every machine.
template <class Owner>
CostCurve combine(const std::vector<const Owner*>& of, CostCurve Owner::*curve) {
  std::vector<CostCurve> launches;
  for (const Owner* owner : of) launches.push_back(owner->*curve);
  return combine_curves(launches);
}

/// The middle launch for messages of some size, and the spread of the others around it.
struct MiddleLaunch {
  Network network;
  double scatter = 0;
};
MiddleLaunch middle_launch(std::vector<Network> launches, double bytes) {
  std::sort(launches.begin(), launches.end(), [&](const Network& a, const Network& b) {
    return a.message_seconds(bytes) < b.message_seconds(bytes);
  });
  MiddleLaunch middle{launches[launches.size() / 2]};
  double squares = 0;
  for (const Network& one : launches)
    squares += std::pow(one.message_seconds(bytes) / middle.network.message_seconds(bytes) - 1, 2);
  middle.scatter = std::sqrt(squares / static_cast<double>(launches.size() - 1));
  return middle;
}

Network combine_networks(const std::vector<Network>& launches) {
  const double border = launches.front().longest_short;
  const MiddleLaunch of_short = middle_launch(launches, border);
  const MiddleLaunch of_long = middle_launch(launches, 64 * border);
  Network network = of_short.network;
  network.long_latency = of_long.network.long_latency;
  network.long_byte = of_long.network.long_byte;
  network.uncertainty =
      std::hypot(network.uncertainty, std::max(of_short.scatter, of_long.scatter));
  return network;
}

DeviceCosts combine_devices(const std::vector<const DeviceCosts*>& launches) {
  DeviceCosts device = *launches.front();
  for (const auto& [name, curve] : device_curves) device.*curve = combine(launches, curve);
  std::vector<Network> networks;
  for (const DeviceCosts* one : launches) {
    if (one->network) networks.push_back(*one->network);
  }
  device.network.reset();
  if (networks.size() == launches.size()) device.network = combine_networks(networks);
  return device;
}

}  // namespace

Machine combine_machines(const std::vector<Machine>& calibrations) {
  if (calibrations.size() < 2)
    throw UsageError("there must be two or more calibrations to combine");
  Machine machine = calibrations.front();
  std::string first = machine.date;
  std::vector<const Machine*> launches;
  std::vector<const DeviceCosts*> devices;
  std::vector<Network> networks;
  for (const Machine& one : calibrations) {
    require_alike(machine, one);
    if (one.date.empty()) {
      throw UsageError("calibrations to combine must be measured, and " + one.name +
                       " is described");
    }
    first = std::min(first, one.date);
    machine.date = std::max(machine.date, one.date);
    launches.push_back(&one);
    if (one.device) devices.push_back(&*one.device);
    networks.push_back(one.network);
  }
  for (const auto& [name, curve] : machine_curves) machine.*curve = combine(launches, curve);
  machine.network = combine_networks(networks);
  if (machine.device) machine.device = combine_devices(devices);
  machine.notes = std::to_string(calibrations.size()) + " calibrations, the first of " + first;
  for (const Machine& one : calibrations)
    if (!one.notes.empty()) machine.notes += "; " + one.date + ": " + one.notes;
  return machine;
}

}  // namespace ringweave::detail::inline perf_models
