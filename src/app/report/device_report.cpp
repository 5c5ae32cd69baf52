// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/report/device_report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/predict/memory_estimate.hpp"
#include "transform/device_budget.hpp"
#include "transform/offloaded_transform.hpp"

namespace ringweave::detail::inline app {
namespace {

std::string whereabouts(const DeviceBudget& device) {
  if (device.on_device()) return "a_lm, ring modes and maps go there";
  return "a_lm and maps stay on the host and are copied in blocks, because " + device.reason;
}

}  // namespace

void record_device(Run& run, const SphericalHarmonicTransform& transform) {
  const DeviceBudget* device = transform.device();
  if (device == nullptr) return;
  const OffloadedTransform* offloaded = transform.offloaded();
  const DeviceMemoryPlan& planned = device->planned;
  run.report["device"] = {
      {"name", device->device.name},
      {"ranks_on_it", run.comm.max(std::int64_t{device->n_ranks})},
      {"free_bytes", over_ranks(run.comm, static_cast<double>(device->free_bytes))},
      {"planned_bytes", over_ranks(run.comm, static_cast<double>(planned.total()))},
      {"data_on_device", device->on_device()},
      {"obstacle", device->reason},
  };
  if (offloaded == nullptr) return;
  run.report["device"]["held_bytes"] =
      over_ranks(run.comm, static_cast<double>(offloaded->device_bytes()));
  run.report["device"]["mpi"] = offloaded->transform().route() == DeviceRoute::direct
                                    ? "from device memory"
                                    : "through the host's memory";
}

void print_device(Run& run, const SphericalHarmonicTransform& transform, PlanTable& table) {
  const DeviceBudget* device = transform.device();
  if (device == nullptr) return;
  const DeviceMemoryPlan& planned = device->planned;
  const char* const how = device->on_device() ? "" : ", in blocks";
  table.bytes(fmt::format("device: Legendre stage{}", how), planned.legendre);
  table.bytes(fmt::format("device: ring FFT{}", how), planned.ring_fft);
  if (device->on_device()) {
    table.bytes("device: ring modes", planned.modes);
    table.bytes("device: a_lm and map", planned.alm + planned.map);
  }
  table.bytes("device memory", planned.total());
  run.say(fmt::format("  device: {}, {} rank(s) on it, {} free; {}", device->device.name,
                      device->n_ranks, bytes_text(static_cast<double>(device->free_bytes)),
                      whereabouts(*device)));
}

}  // namespace ringweave::detail::inline app
