// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gyro/target_radii.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "app/backend_choice.hpp"
#include "app/gyro/periodic_end.hpp"
#include "app/predict/memory_estimate.hpp"
#include "app/report/plan_table.hpp"
#include "app/transform_setup.hpp"
#include "base/checked_cast.hpp"
#include "base/device.hpp"
#include "base/stage_timer.hpp"
#include "distribute/mpi/agree.hpp"
#include "gyro/gyro_checks.hpp"
#include "io/plane_output.hpp"
#include "ringweave/error.hpp"
#include "ringweave/execution.hpp"
#include "ringweave/gyroaverage.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline app {
namespace {

// Fields of a rank at once, whose rows of the operator are made once for all: that takes as long as
// averaging 38 fields (400 x 400 nodes, rho 0.3). So as many as fit the usual bytes, or, of large
// planes, as many as share that work well and fit the most bytes.
constexpr std::int64_t usual_step_bytes = std::int64_t{1} << 26;
constexpr std::int64_t most_step_bytes = std::int64_t{1} << 30;
constexpr std::int64_t fields_that_share = 32;
/// Planes of doubles that the transpose takes for each field.
constexpr std::int64_t planes_of_transpose = 16;

/// The share of this rank: rows [row_begin, row_end) of averages of all fields, or all rows of the
/// transpose of some fields; a few fields at a time.
struct TargetShare {
  std::int64_t row_begin = 0;
  std::int64_t row_end = 0;
  std::int64_t field_begin = 0;
  std::int64_t field_end = 0;
  std::int64_t most_fields = 1;  ///< at a time
  std::int64_t n_steps = 1;      ///< of the rank that has most

  std::int64_t n_rows() const { return row_end - row_begin; }
  std::int64_t n_fields() const { return field_end - field_begin; }
  /// The fields of a step.
  std::vector<std::int64_t> fields_of(std::int64_t step) const {
    std::vector<std::int64_t> fields;
    const std::int64_t first = field_begin + step * most_fields;
    for (std::int64_t i = first; i < std::min(first + most_fields, field_end); ++i)
      fields.push_back(i);
    return fields;
  }
};

/// Bytes for each field that a rank works on.
std::int64_t bytes_of_field(const GyroJob& job, const TargetShare& share) {
  const std::int64_t n_nodes = job.spec.grid.n_nodes();
  const std::int64_t number = bytes_of(job.output.precision);
  const std::int64_t own = share.n_rows() * job.spec.grid.x.size;
  const std::int64_t scratch =
      job.is_adjoint() ? planes_of_transpose * n_nodes * std::int64_t{sizeof(double)} : 0;
  return number * (n_nodes + own) + scratch;
}

MemoryEstimate memory_of(const GyroJob& job, const TargetShare& share) {
  const std::int64_t own = share.n_rows() * job.spec.grid.x.size;
  return with_program({{"fields and averages", share.most_fields * bytes_of_field(job, share)},
                       {"radii", own * std::int64_t{sizeof(double)}}});
}

/// Takes fewer fields at a time where the memory is short. Collective.
TargetShare share_of(const Run& run, const GyroJob& job) {
  const int rank = run.comm.rank();
  const int n_ranks = run.comm.size();
  const std::int64_t n_rows = job.spec.grid.y.size;
  TargetShare share{0, n_rows, 0, job.n_fields};
  if (job.is_adjoint()) {
    share.field_begin = job.n_fields * rank / n_ranks;
    share.field_end = job.n_fields * (rank + 1) / n_ranks;
  } else {
    share.row_begin = n_rows * rank / n_ranks;
    share.row_end = n_rows * (rank + 1) / n_ranks;
  }
  const std::int64_t n_fields = run.comm.max(share.n_fields());
  const std::int64_t of_field = bytes_of_field(job, share);
  const std::int64_t at_once = std::max(usual_step_bytes / of_field,
                                        std::min(most_step_bytes / of_field, fields_that_share));
  share.most_fields = run.comm.min(std::clamp<std::int64_t>(at_once, 1, n_fields));
  while (share.most_fields > 1 && !fits_memory(run.comm, memory_of(job, share)))
    share.most_fields = (share.most_fields + 1) / 2;
  share.n_steps = (n_fields + share.most_fields - 1) / share.most_fields;
  return share;
}

/// Radii of this rank's rows. Collective.
HostBuffer<double> read_radii(Run& run, const GyroJob& job, const TargetShare& share) {
  const GyroaverageOptions& options = job.options;
  const PlaneFileReader reader(run.comm, options.input, options.rho_field);
  const PlaneHeader& header = reader.header();
  const PlaneGrid& grid = job.spec.grid;
  if (!header.axes.empty() || header.y.size != grid.y.size || header.x.size != grid.x.size) {
    throw DataError(options.input,
                    fmt::format("--rho-field {}: has {} axes before y and x and {} x {} nodes; "
                                "expected none and the {} x {} of {}",
                                options.rho_field, header.axes.size(), header.y.size, header.x.size,
                                grid.y.size, grid.x.size, job.input.name));
  }
  auto radii = agreed(run.comm, [&] { return HostBuffer<double>(share.n_rows() * grid.x.size); });
  const PlaneFilePart part{{0}, share.row_begin, share.row_end};
  reader.read(part, MapView<double>(radii.data(), 1, radii.size()));
  agree(run.comm, [&] {
    const auto* wrong = std::find_if(radii.begin(), radii.end(), [](double r) { return r < 0; });
    if (wrong == radii.end()) return;
    const std::int64_t at = wrong - radii.begin();
    throw DataError(
        options.input,
        fmt::format(
            "--rho-field {}: the radius at (y, x) = ({}, {}), counted from 0, is {}; expected "
            "0 or more",
            options.rho_field, share.row_begin + at / grid.x.size, at % grid.x.size, *wrong));
  });
  return radii;
}

/// Says how many circles are larger than the rectangle. Collective.
void warn_of_large_radii(Run& run, const GyroJob& job, const HostBuffer<double>& radii) {
  const PlaneGrid& grid = job.spec.grid;
  // Of a transpose every rank has all radii.
  const bool counts = !job.is_adjoint() || run.comm.is_root();
  const auto count = counts ? std::count_if(radii.begin(), radii.end(),
                                            [&](double radius) { return is_beyond(grid, radius); })
                            : 0;
  const std::int64_t n_large = run.comm.sum(std::int64_t{count});
  if (n_large == 0) return;
  run.warn(fmt::format(
      "{} of {} radii of {} are above the diagonal of the domain: averages there are zero", n_large,
      grid.n_nodes(), job.options.rho_field));
}

/// Puts the plan into the report and throws where the memory does not hold it. Collective.
void require_plan(Run& run, const GyroJob& job, const TargetShare& share) {
  const MemoryEstimate estimate = memory_of(job, share);
  record_memory(run, estimate);
  const std::string reason =
      "every circle has a radius of its own, so ranks share rows of averages and have whole fields";
  run.report["plan"]["gyroaverage"] = {{"row_parts", run.comm.size()}, {"reason", reason}};
  run.report["gyroaverage"] = {
      {"method", word_of(job.spec.method)},   {"adjoint", job.is_adjoint()},
      {"rho_field", job.options.rho_field},   {"fields", job.n_fields},
      {"fields_of_batch", share.most_fields}, {"batches", share.n_steps}};
  if (run.options.dry_run || run.options.verbose) {
    run.print_line(fmt::format("  ranks: {} for rows; {}", run.comm.size(), reason));
    PlanTable table(run);
    table.count("fields of a batch", std::min(share.most_fields, share.n_fields()));
    table.count("rows of averages", share.n_rows());
    table.memory(estimate);
  }
  if (fits_memory(run.comm, estimate)) return;
  throw ResourceError(
      fmt::format("one field of {} needs {} on a rank, which a node lacks; use more nodes with "
                  "fewer ranks each",
                  job.options.input, bytes_text(static_cast<double>(estimate.buffers()))));
}

/// The fields of a step, and where they are averaged.
template <class T>
struct TargetStep {
  ComponentView<T> planes;  ///< whole ones of fields
  ComponentView<T> rows;    ///< of averages
  Backend backend;
  GyroProgress progress;
};

/// Averages the fields of a step, or transposes their averages. Collective.
template <class T>
void average_step(Run& run, const GyroJob& job, const TargetShare& share,
                  std::span<const double> radii, const TargetStep<T>& step) {
  const PlaneGrid& grid = job.spec.grid;
  const GyroMethod method = job.spec.method;
  const Communicator node = run.comm.node_local();
  agree(run.comm, [&] {
    const auto& [planes, rows, backend, progress] = step;
    if (rows.n_components() == 0) return;
    if (backend == Backend::cuda) choose_device(node.rank());
    if (!job.is_adjoint()) {
      return gyroaverage_with_radii<T>(grid, method, radii, share.row_begin, share.row_end, planes,
                                       rows, backend, progress);
    }
    for (std::int64_t c = 0; c < planes.n_components(); ++c)
      std::fill_n(planes.component(c).data(), planes.size(), T{0});
    gyroaverage_with_radii_adjoint<T>(grid, method, radii, share.row_begin, share.row_end, rows,
                                      planes, backend, progress);
  });
}

template <class T>
void average_stored(Run& run, const GyroJob& job, const TargetShare& share,
                    std::span<const double> radii, const PlaneFileReader& reader,
                    PlaneOutput& writer) {
  const PlaneGrid& grid = job.spec.grid;
  const std::int64_t n_rows = grid.y.size;
  auto whole =
      agreed(run.comm, [&] { return ComponentBuffer<T>(share.most_fields, grid.n_nodes()); });
  auto own = agreed(run.comm, [&] {
    return ComponentBuffer<T>(share.most_fields, share.n_rows() * grid.x.size);
  });
  run.progress.stage("averaging");
  Backend backend = job.spec.backend;
  std::int64_t of_step = 1;  // unit of a step: rows, on a device fields
  for (std::int64_t step = 0; step < share.n_steps; ++step) {
    const std::vector<std::int64_t> fields = share.fields_of(step);
    const PlaneFilePart whole_part{fields, 0, n_rows};
    const PlaneFilePart own_part{share.n_rows() > 0 ? fields : std::vector<std::int64_t>(),
                                 share.row_begin, share.row_end};
    const ComponentView<T> planes = whole.view().components(0, ssize64(whole_part.fields));
    const ComponentView<T> rows = own.view().components(0, ssize64(own_part.fields));
    {
      const StageTimer timer(&run.times, "read");
      reader.read(job.is_adjoint() ? own_part : whole_part,
                  job.is_adjoint() ? MapView<T>(rows) : MapView<T>(planes));
    }
    const auto show = [&](std::int64_t done, std::int64_t total) {
      of_step = total;
      run.progress.short_step(step * total + done, share.n_steps * total);
    };
    {
      const StageTimer timer(&run.times, "average");
      make_with_host_fallback(run, job.options.backend, backend, [&] {
        average_step<T>(run, job, share, radii, {planes, rows, backend, show});
      });
    }
    const StageTimer timer(&run.times, "write");
    writer.write(job.is_adjoint() ? whole_part : own_part,
                 MapView<const T>(job.is_adjoint() ? planes : rows));
    run.progress.step((step + 1) * of_step, share.n_steps * of_step);
  }
}

}  // namespace

int average_by_target(Run& run, const GyroJob& job, const PlaneFileReader& reader) {
  const GyroaverageOptions& options = job.options;
  agree(run.comm, [&] {
    if (job.spec.method == GyroMethod::chebyshev) {
      throw UsageError(fmt::format(
          "--rho-field: {} has Chebyshev nodes, and bilinear and bicubic need equispaced ones",
          options.input));
    }
    check_plane_grid(job.spec.grid, job.spec.method);
  });
  const TargetShare share = share_of(run, job);
  require_plan(run, job, share);
  if (run.options.dry_run) return 0;
  const HostBuffer<double> radii = read_radii(run, job, share);
  warn_of_large_radii(run, job, radii);
  refuse_repeated_ends(run, job, reader);
  Provenance provenance = run.provenance(options.input);
  provenance.origin = reader.origin();
  PlaneOutput writer(run.outputs.begin(options.output), job.output, provenance);
  with_storage(job.output.precision, [&](auto storage) {
    average_stored<decltype(storage)>(run, job, share, {radii.data(), to_size(radii.size())},
                                      reader, writer);
  });
  run.conclusion = fmt::format("{}: {} of {} field(s) over the radii of {}, {}", options.output,
                               options.adjoint ? "transposed averages" : "averages", job.n_fields,
                               options.rho_field, word_of(job.spec.method));
  writer.finish();
  return 0;
}

}  // namespace ringweave::detail::inline app
