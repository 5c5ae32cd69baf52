// SPDX-License-Identifier: GPL-3.0-or-later
#include "ringweave/gyroaverage.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/backend_choice.hpp"
#include "app/commands/commands.hpp"
#include "app/gyro/error_estimate.hpp"
#include "app/gyro/gyro_batches.hpp"
#include "app/gyro/gyro_job.hpp"
#include "app/gyro/gyro_options.hpp"
#include "app/gyro/gyro_report.hpp"
#include "app/gyro/periodic_end.hpp"
#include "app/gyro/plane_run.hpp"
#include "app/gyro/target_radii.hpp"
#include "base/stage_timer.hpp"
#include "io/plane_output.hpp"
#include "ringweave/error.hpp"
#include "ringweave/execution.hpp"
#include "ringweave/files.hpp"

namespace ringweave::detail::inline app {
namespace {

/// Says in a line what OUT holds.
void conclude(Run& run, const GyroJob& job) {
  const std::string axes = fmt::format("{} x {} nodes", job.output.y.size, job.output.x.size);
  run.conclusion = fmt::format(
      "{}: {} of {} field(s) on {}, {} radii, {}{}", job.options.output,
      job.is_adjoint() ? "transposed averages" : "averages", job.n_fields, axes,
      job.spec.radii.size(), word_of(job.spec.method),
      job.options.combine == "each" ? "" : fmt::format(", --combine {}", job.options.combine));
}

/// Plans batches, on the host where the device that --backend auto took has too little memory.
GyroBatches plan_job(Run& run, GyroJob& job) {
  return make_with_host_fallback(run, job.options.backend, job.spec.backend, [&] {
    GyroBatches batches = plan_batches(run, job);
    if (job.options.backend == "auto" && job.spec.backend == Backend::cuda)
      require_memory(run, job, batches);
    return batches;
  });
}

/// Computes the averages over radii that all targets share. Collective.
int average(Run& run, GyroJob& job, const PlaneFileReader& reader) {
  const GyroaverageOptions& options = job.options;
  if (options.estimate) require_second_nodes(job);
  const GyroBatches batches = plan_job(run, job);
  record_gyro_plan(run, job, batches);
  require_memory(run, job, batches);
  if (run.options.dry_run) return 0;
  refuse_repeated_ends(run, job, reader);
  run.progress.stage("making tables");
  std::optional<Gyroaverage> gyroaverage(
      std::in_place, run.comm, job.spec,
      [&](std::int64_t done, std::int64_t total) { run.progress.step(done, total); });
  Provenance provenance = run.provenance(options.input);
  provenance.origin = reader.origin();
  PlaneOutput writer(run.outputs.begin(options.output), job.output, provenance);
  const BatchTotals totals = run_batches(run, job, batches, reader, *gyroaverage, writer);
  GyroErrors errors{totals.indicator};
  record_gyroaverages(run, job, totals.halo_bytes_sent, *gyroaverage);
  gyroaverage.reset();  // an estimate has its memory
  if (options.estimate) errors.estimated = estimate_error(run, job, batches.estimate, reader);
  for (const Keyword& attribute : attributes_of(job, errors)) writer.add(attribute);
  record_gyro_errors(run, job, errors);
  conclude(run, job);
  const StageTimer timer(&run.times, "write");
  writer.finish();
  return 0;
}

}  // namespace

int gyroaverage(Run& run, const GyroaverageOptions& options) {
  check_gyro_options(options);
  run.outputs.announce(options.output, OutputContent::planes);
  run.outputs.keep(options.input);
  run.progress.stage("reading " + options.input);
  const PlaneFileReader reader(run.comm, options.input, options.field);
  for (const std::string& warning : reader.warnings()) run.warn(options.input + ": " + warning);
  GyroJob job = make_gyro_job(run, options, reader);
  job.spec.backend = choose_backend(run, options.backend);
  run.outputs.require_writable();
  for (const Keyword& attribute : attributes_of(job)) job.output.attributes.push_back(attribute);
  return options.rho_field.empty() ? average(run, job, reader)
                                   : average_by_target(run, job, reader);
}

}  // namespace ringweave::detail::inline app
