// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/backend_choice.hpp"

#include <fmt/format.h>

#include <cstdint>

#include "app/availability.hpp"
#include "base/device.hpp"
#include "base/error.hpp"
#include "distribute/agree.hpp"
#include "transform/device_share.hpp"

namespace ringweave {
namespace {

/// Says so once where a command comes to the same choice again.
void record(Run& run, const char* backend, const std::string& why) {
  const nlohmann::ordered_json choice = {{"name", backend}, {"because", why}};
  if (run.report["backend"] == choice) return;
  run.report["backend"] = choice;
  run.detail(fmt::format("backend: {}, because {}", backend, why));
}

bool every_rank_has_a_device(const Run& run) {
  return run.comm.min(std::int64_t{device_count()}) > 0;
}

/// Why `auto` computes on the host, from the first rank that has no device. Collective.
std::string why_no_device(const Run& run) {
  if (cuda_version().empty()) return "this build has no CUDA";
  const std::int64_t nobody = run.comm.size();
  const std::int64_t rank =
      run.comm.min(device_count() == 0 ? std::int64_t{run.comm.rank()} : nobody);
  const std::string obstacle =
      run.comm.broadcast(device_obstacle(), static_cast<int>(rank == nobody ? 0 : rank));
  return "no device was found: " + obstacle;
}

}  // namespace

Backend choose_backend(Run& run, const std::string& asked) {
  require_available("--backend", asked);
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
    record(run, "host", why_no_device(run));
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
  // A launcher may show every rank one device of its own.
  DeviceIdentity device;
  try {
    choose_device(node.rank());
    device = device_identity();
  } catch (const ResourceError&) {
    // Who wants to use it will say what is wrong with it.
  }
  return static_cast<int>(run.comm.max(std::int64_t{count_ranks_of(node, device)}));
}

void refuse_device(const std::string& asked, const std::string& what) {
  require_available("--backend", asked);
  if (asked != "cuda") return;
  throw UsageError(fmt::format(
      "--backend cuda: {} has no form for a device yet; use --backend host or auto", what));
}

void stay_on_host(Run& run, const std::string& asked, const std::string& what) {
  refuse_device(asked, what);
  if (asked == "host") return record(run, "host", "--backend says so");
  if (!every_rank_has_a_device(run)) return record(run, "host", why_no_device(run));
  const std::string why = what + " has no form for a device yet";
  if (!run.options.verbose) run.say("backend: host, because " + why);
  record(run, "host", why);
}

}  // namespace ringweave
