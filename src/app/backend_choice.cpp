// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/backend_choice.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>

#include "base/device.hpp"
#include "distribute/mpi/agree.hpp"
#include "ringweave/error.hpp"
#include "ringweave/execution.hpp"
#include "transform/device_budget.hpp"

namespace ringweave::detail::inline app {
namespace {

/// Reports a choice once, also when a command makes the same choice again.
void record(Run& run, const char* backend, const std::string& why) {
  const nlohmann::ordered_json choice = {{"name", backend}, {"because", why}};
  if (run.report["backend"] == choice) return;
  run.report["backend"] = choice;
  run.detail(fmt::format("backend: {}, because {}", backend, why));
}

void require_in_build(const std::string& asked) {
  if (asked == "cuda" && cuda_version().empty())
    throw UsageError("--backend cuda: this build does not have it; use --backend host or auto");
}

bool every_rank_has_a_device(const Run& run) {
  return run.comm.min(std::int64_t{device_count()}) > 0;
}

/// Falls back to the host for `auto` and gives the reason from the first rank without a device,
/// unless the build has no CUDA. Collective.
void fall_back_to_host(Run& run) {
  if (cuda_version().empty()) return record(run, "host", "this build has no CUDA");
  const std::int64_t nobody = run.comm.size();
  const std::int64_t rank =
      run.comm.min(device_count() == 0 ? std::int64_t{run.comm.rank()} : nobody);
  const std::string obstacle =
      run.comm.broadcast(device_obstacle(), static_cast<int>(rank == nobody ? 0 : rank));
  record(run, "host", "no device was found: " + obstacle);
}

}  // namespace

Backend choose_backend(Run& run, const std::string& asked) {
  require_in_build(asked);
  if (asked.empty()) {
    record(run, "host", "this command computes there");
    return Backend::host;
  }
  if (asked == "host") {
    record(run, "host", "--backend says so");
    return Backend::host;
  }
  if (asked == "cuda") {
    agree(run.comm, [] {
      if (device_count() == 0) throw ResourceError("--backend cuda: " + device_obstacle());
    });
    record(run, "cuda", "--backend says so");
    return Backend::cuda;
  }
  if (!every_rank_has_a_device(run)) {
    fall_back_to_host(run);
    return Backend::host;
  }
  record(run, "cuda", "there is a device");
  return Backend::cuda;
}

Backend give_up_device(Run& run, const std::string& why) {
  run.warn("computing on the host, because the device cannot be used: " + why);
  record(run, "host", "the device cannot be used: " + why);
  return Backend::host;
}

int ranks_of_device(const Run& run) {
  if (!every_rank_has_a_device(run)) return 1;
  const Communicator node = run.comm.node_local();
  // A launcher may give every rank a different device to see.
  DeviceIdentity device;
  try {
    choose_device(node.rank());
    device = device_identity();
  } catch (const ResourceError&) {
    // Commands that use the device report the error.
  }
  return static_cast<int>(run.comm.max(std::int64_t{count_ranks_of(node, device)}));
}

void refuse_device(const std::string& asked, const std::string& what) {
  require_in_build(asked);
  if (asked != "cuda") return;
  throw UsageError(fmt::format(
      "--backend cuda: {} is not implemented on GPUs yet; use --backend host or auto", what));
}

void stay_on_host(Run& run, const std::string& asked, const std::string& what) {
  refuse_device(asked, what);
  if (asked == "host") return record(run, "host", "--backend says so");
  if (!every_rank_has_a_device(run)) return fall_back_to_host(run);
  record(run, "host", what + " is not implemented on GPUs yet");
}

}  // namespace ringweave::detail::inline app
