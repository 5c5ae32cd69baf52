// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/run.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <omp.h>

#include <cstdio>
#include <ctime>
#include <fstream>

#include "app/build_information.hpp"
#include "app/version.hpp"
#include "base/error.hpp"
#include "base/memory_meter.hpp"
#include "distribute/agree.hpp"
#include "io/atomic_output.hpp"

namespace ringweave {
namespace {

nlohmann::ordered_json over_ranks(const Communicator& comm, double value) {
  const double least = comm.min(value);
  const double most = comm.max(value);
  return {{"min", least}, {"mean", comm.sum(value) / comm.size()}, {"max", most}};
}

}  // namespace

std::string utc_now() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

Provenance Run::provenance() const {
  Provenance provenance;
  provenance.version = build_information::version;
  provenance.date = utc_now();
  provenance.command_line = command_line;
  provenance.config_json = nlohmann::json(used_configuration).dump();
  return provenance;
}

void Run::say(const std::string& line) {
  progress.finish();
  if (!comm.is_root()) return;
  std::puts(line.c_str());
  std::fflush(stdout);
}

void Run::detail(const std::string& line) {
  if (options.verbose) say(line);
}

void Run::warn(const std::string& line) {
  progress.finish();
  if (comm.is_root()) fmt::print(stderr, "warning: {}\n", line);
}

void record_transform(Run& run, SphericalHarmonicTransform& transform, int n_transforms) {
  const TransformPlan& plan = transform.plan();
  for (const auto& [stage, entry] : transform.times().entries())
    run.times.add(stage, entry.seconds);
  const double flops = run.comm.sum(plan.legendre_flops()) * n_transforms;
  const double seconds = run.comm.max(transform.times().seconds("legendre"));
  run.report["transform"] = {
      {"grid", plan.spec.grid->name()},
      {"lmax", plan.spec.lmax},
      {"mmax", plan.spec.mmax},
      {"components", plan.spec.fields.n_components()},
      {"transforms", n_transforms},
      {"legendre_gflop_per_s", seconds > 0 ? flops / seconds * 1e-9 : 0.0},
      {"bytes_sent_per_transform", run.comm.sum(plan.bytes_sent())},
  };
  run.report["layout"] = {
      {"rings", over_ranks(run.comm, static_cast<double>(plan.rings.n_rings()))},
      {"pixels", over_ranks(run.comm, static_cast<double>(plan.rings.n_pixels()))},
      {"orders", over_ranks(run.comm, static_cast<double>(plan.alm.n_orders()))},
  };
}

void write_report(Run& run) {
  nlohmann::ordered_json stages = nlohmann::ordered_json::object();
  // Every rank passes through the same stages; the names of rank 0 lead.
  std::string names;
  for (const auto& [stage, entry] : run.times.entries()) names += stage + '\n';
  names = run.comm.broadcast(names, 0);
  for (std::size_t begin = 0; begin < names.size();) {
    const std::size_t end = names.find('\n', begin);
    const std::string stage = names.substr(begin, end - begin);
    stages[stage] = over_ranks(run.comm, run.times.seconds(stage));
    begin = end + 1;
  }
  nlohmann::ordered_json memory{
      {"buffers_high_water_bytes", run.comm.sum(MemoryMeter::high_water_bytes())},
      {"resident_high_water_bytes", run.comm.sum(peak_resident_bytes())},
      {"largest_rank_resident_bytes", run.comm.max(peak_resident_bytes())},
  };
  if (run.options.report.empty()) return;
  nlohmann::ordered_json report{
      {"program", version_information()},
      {"command_line", run.command_line},
      {"configuration", run.used_configuration},
      {"date", utc_now()},
      {"ranks", run.comm.size()},
      {"threads_per_rank", omp_get_max_threads()},
  };
  if (!run.report.is_null()) report.update(run.report);
  report["stages"] = stages;
  report["memory"] = memory;

  AtomicOutput output(run.comm, run.options.report, run.if_exists());
  agree(run.comm, [&] {
    if (!run.comm.is_root()) return;
    std::ofstream file(output.temporary_path());
    file << report.dump(2) << '\n';
    file.close();
    if (!file)
      throw ResourceError(run.options.report + ": cannot write the report; is the disk full?");
  });
  output.commit();
}

}  // namespace ringweave
