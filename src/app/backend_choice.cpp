// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/backend_choice.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/predict/point_prediction.hpp"
#include "app/report/point_report.hpp"
#include "app/report/transform_report.hpp"
#include "app/stage_places.hpp"
#include "base/device.hpp"
#include "distribute/mpi/agree.hpp"
#include "distribute/mpi/device_sharers.hpp"
#include "distribute/mpi/mpi_library.hpp"
#include "ringweave/error.hpp"
#include "ringweave/execution.hpp"
#include "transform/device_budget.hpp"
#include "transform/transform_estimate.hpp"
#include "transform/transform_plan.hpp"

namespace ringweave::detail::inline app {
namespace {

void put_into(TransformSpec& spec, const StagePlaces& stages) {
  spec.backend = stages.use_a_device() ? Backend::cuda : Backend::host;
  spec.on_device = stages.on_device();
}

/// Reports a choice once, also when a command makes the same choice again.
void record(Run& run, const NamedPlaces& places, const std::string& why) {
  const char* name = name_of(places.are_mixed() ? Backend::cuda : places.of_first);
  nlohmann::ordered_json choice = {{"name", name}, {"because", why}};
  if (places.are_mixed()) {
    choice["stages"] = {{places.first, name_of(places.of_first)},
                        {places.second, name_of(places.of_second)}};
  }
  if (run.report["backend"] == choice) return;
  run.report["backend"] = choice;
  run.detail(
      fmt::format("backend: {}, because {}", places.are_mixed() ? places.text() : name, why));
}
NamedPlaces places_of(const SplitBackends& parts) {
  return {"harmonic", parts.harmonic, "rings", parts.rings};
}
void record(Run& run, const StagePlaces& stages, const std::string& why) {
  record(run, stages.named(), why);
}
void record(Run& run, Backend backend, const std::string& why) {
  record(run, StagePlaces{backend, backend}, why);
}

/// `option`: that asks for a device.
void require_in_build(const std::string& option) {
  if (cuda_version().empty())
    throw UsageError(option + ": this build does not have it; use --backend host or auto");
}

/// Collective.
void require_device(Run& run, const std::string& option) {
  require_in_build(option);
  agree(run.comm, [&] {
    if (device_count() == 0) throw ResourceError(option + ": " + device_unavailable_reason());
  });
}

bool every_rank_has_a_device(const Run& run) {
  return run.comm.min(std::int64_t{device_count()}) > 0;
}

/// Falls back to the host for `auto` and gives the reason from the first rank without a device,
/// unless the build has no CUDA. Collective.
void record_no_device(Run& run) {
  if (cuda_version().empty()) return record(run, Backend::host, "this build has no CUDA");
  const std::int64_t nobody = run.comm.size();
  const std::int64_t rank =
      run.comm.min(device_count() == 0 ? std::int64_t{run.comm.rank()} : nobody);
  const std::string reason =
      run.comm.broadcast(device_unavailable_reason(), static_cast<int>(rank == nobody ? 0 : rank));
  record(run, Backend::host, "no device was found: " + reason);
}

/// Tells whether `auto` may take a device, and records why not. Collective.
bool may_take_device(Run& run) {
  if (!every_rank_has_a_device(run)) {
    record_no_device(run);
    return false;
  }
  try {
    share_of_device(run.comm);
  } catch (const ResourceError& failure) {
    fall_back_to_host(run, failure.what());
    return false;
  }
  return true;
}

/// A way to run a transform.
struct Way {
  StagePlaces stages;
  double seconds;  ///< predicted, of the slowest rank
};

/// Collective.
std::vector<Way> predicted_ways(Run& run, const TransformSpec& spec) {
  const auto plan =
      agreed(run.comm, [&] { return TransformPlan(spec, run.comm.rank(), run.comm.size()); });
  const DeviceBudget device = share_device(run.comm, plan);
  TransformWork work = work_of(plan, omp_get_max_threads());
  work.ranks_of_device = device.n_ranks;
  const auto seconds = [&](Place place, StagesOnDevice on_device) {
    work.place = place;
    work.on_device = on_device;
    return run.comm.max(estimate_transform(work, run.machine).total().seconds);
  };
  const Place whole = device.on_device() ? Place::device : Place::device_in_blocks;
  constexpr Backend host = Backend::host;
  constexpr Backend cuda = Backend::cuda;
  return {{{cuda, cuda}, seconds(whole, StagesOnDevice::both)},
          {{cuda, host}, seconds(Place::device_in_blocks, StagesOnDevice::legendre)},
          {{host, cuda}, seconds(Place::device_in_blocks, StagesOnDevice::ring_fft)},
          {{host, host}, seconds(Place::host, StagesOnDevice::both)}};
}

/// Collective. Error  ResourceError when the device is of no use.
void choose_fastest(Run& run, TransformSpec& spec) {
  const std::vector<Way> ways = predicted_ways(run, spec);
  const auto best = std::min_element(
      ways.begin(), ways.end(), [](const Way& a, const Way& b) { return a.seconds < b.seconds; });
  put_into(spec, best->stages);
  std::string others;
  for (const Way& way : ways) {
    if (&way == &*best) continue;
    others += fmt::format("; {} {:.2g} s", way.stages.text(), way.seconds);
  }
  record(run, best->stages,
         fmt::format("its transform is predicted to take {:.2g} s{}", best->seconds, others));
}

}  // namespace

Backend choose_backend(Run& run, const std::string& asked) {
  if (asked == "host") {
    record(run, Backend::host, "--backend says so");
    return Backend::host;
  }
  if (asked == "cuda") {
    require_device(run, "--backend cuda");
    record(run, Backend::cuda, "--backend says so");
    return Backend::cuda;
  }
  if (!every_rank_has_a_device(run)) {
    record_no_device(run);
    return Backend::host;
  }
  record(run, Backend::cuda, "there is a device");
  return Backend::cuda;
}

void choose_backend(Run& run, const TransformOptions& asked, TransformSpec& spec) {
  if (!asked.stage.empty()) {
    const StagePlaces stages = stage_places_named(asked.stage);
    put_into(spec, stages);
    if (spec.backend == Backend::cuda) require_device(run, "--stage " + asked.stage);
    return record(run, stages, "--stage says so");
  }
  spec.backend = choose_backend(run, asked.backend);
  if (asked.backend != "auto" || spec.backend == Backend::host || !run.machine.device) return;
  try {
    choose_fastest(run, spec);
  } catch (const ResourceError& error) {
    spec.backend = fall_back_to_host(run, error.what());
  }
}

Backend choose_faster_backend(Run& run, const std::string& asked,
                              const std::function<Estimate(Backend)>& predict) {
  if (asked != "auto" || !run.machine.device) return choose_backend(run, asked);
  if (!may_take_device(run)) return Backend::host;
  const double on_host = of_slowest(run.comm, predict(Backend::host)).seconds;
  const double on_device = of_slowest(run.comm, predict(Backend::cuda)).seconds;
  const Backend fastest = on_device <= on_host ? Backend::cuda : Backend::host;
  record(run, fastest,
         fmt::format("it is predicted to take {:.2g} s on a device, {:.2g} s on the host",
                     on_device, on_host));
  return fastest;
}

std::vector<SplitBackends> possible_split_backends(Run& run, const TransformOptions& asked) {
  constexpr Backend host = Backend::host;
  constexpr Backend cuda = Backend::cuda;
  std::vector<SplitBackends> all;
  if (!asked.stage.empty()) {
    all = {split_backends_named(asked.stage)};
    const NamedPlaces places = places_of(all.front());
    if (places.use_a_device()) require_device(run, "--stage " + asked.stage);
    record(run, places, "--stage says so");
  } else if (asked.backend == "auto" && run.machine.device) {
    all = {{host, host}};
    if (may_take_device(run)) all.insert(all.end(), {{cuda, host}, {host, cuda}, {cuda, cuda}});
  } else {
    all = {{.harmonic = choose_backend(run, asked.backend)}};
  }
  const bool may_be_at_once = run.comm.min(std::int64_t{threads_may_call_mpi()}) == 1;
  for (SplitBackends& parts : all)
    parts.concurrent = may_be_at_once && parts.harmonic != parts.rings;
  return all;
}

void record_split_backends(Run& run, const PlacedSplit& chosen,
                           const std::vector<PlacedSplit>& others) {
  std::string rest;
  for (const PlacedSplit& other : others) {
    rest += fmt::format("; {} {}", places_of(other.backends).text(),
                        other.why_excluded.empty() ? fmt::format("{:.2g} s", other.seconds)
                                                   : "is left out: " + other.why_excluded);
  }
  record(run, places_of(chosen.backends),
         fmt::format("it is predicted to take {:.2g} s{}", chosen.seconds, rest));
}

Backend choose_backend_of_points(Run& run, const std::string& asked, const PointSpec& spec,
                                 std::int64_t n_points) {
  constexpr std::int64_t n_angles = 2;
  if (asked != "auto") return choose_backend(run, asked);
  if (!run.machine.device) {
    if (every_rank_has_a_device(run)) {
      record(run, Backend::host,
             "points are on a GPU only where --backend cuda says so, or the machine file has its "
             "costs");
    } else {
      record_no_device(run);
    }
    return Backend::host;
  }
  const EvenPoints even = agreed(run.comm, [&] { return EvenPoints(spec, n_points, n_angles); });
  return choose_faster_backend(run, asked, [&](Backend backend) {
    TransformSpec to_rows = even.rows();
    to_rows.backend = backend;
    const TransformPlan plan =
        agreed(run.comm, [&] { return TransformPlan(to_rows, run.comm.rank(), run.comm.size()); });
    return predict_points(run, plan, even.work(run.comm.size(), omp_get_max_threads())).total();
  });
}

Backend fall_back_to_host(Run& run, const std::string& why) {
  run.warn("computing on the host, because the device cannot be used: " + why);
  record(run, Backend::host, "the device cannot be used: " + why);
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

}  // namespace ringweave::detail::inline app
