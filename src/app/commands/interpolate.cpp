// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/backend_choice.hpp"
#include "app/commands/commands.hpp"
#include "app/predict/memory_estimate.hpp"
#include "app/predict/point_prediction.hpp"
#include "app/report/plan_table.hpp"
#include "app/report/point_report.hpp"
#include "app/sky_analysis.hpp"
#include "app/transform_setup.hpp"
#include "base/checked_cast.hpp"
#include "base/memory_meter.hpp"
#include "distribute/mpi/agree.hpp"
#include "distribute/mpi/device_sharers.hpp"
#include "distribute/mpi/memory_check.hpp"
#include "distribute/order_moves.hpp"
#include "io/field_files.hpp"
#include "io/point_files.hpp"
#include "nonuniform/point_memory.hpp"
#include "ringweave/error.hpp"
#include "ringweave/files.hpp"
#include "ringweave/lensing.hpp"
#include "ringweave/points.hpp"
#include "transform/transform_plan.hpp"

namespace ringweave::detail::inline app {
namespace {

/// Points of a file and how their values are made.
struct PointJob {
  const InterpolateOptions& options;
  PointFile points;
  MemoryItem program;  ///< without the points
  FieldChoice choice;
  PointSpec spec;
  Precision precision;  ///< of files
  /// The share of the device before the transform was planned; none: the host.
  std::optional<DeviceShare> device{};

  /// Returns the precision of a_lm and values in memory: an adjoint is computed in double.
  Precision held() const { return options.adjoint.empty() ? precision : Precision::double_; }
};

/// The components of --spin S, else those of --fields or of the input.
FieldChoice fields_at_points(const InterpolateOptions& options, const FieldChoice& otherwise) {
  if (options.spin < 0) return otherwise;
  if (options.spin == 0) return {"T", {otherwise.columns.front()}, {"T"}, FieldSet({0})};
  if (otherwise.columns.size() != 2) {
    throw UsageError(
        fmt::format("--spin {}: a field of spin has two components, E and B; --fields {} has {}",
                    options.spin, otherwise.name, otherwise.columns.size()));
  }
  return {otherwise.name, otherwise.columns, {"E", "B"}, FieldSet({options.spin})};
}

/// Returns the names of the values: those of the fields, or of the signal of a detector.
std::vector<std::string> names_of_values(const PointJob& job) {
  if (job.points.has_psi()) return {"SIGNAL"};
  const FieldSet::Field& last = job.spec.fields.fields().back();
  if (last.spin == 0) return {"T"};
  std::vector<std::string> names;
  if (job.spec.fields.fields().size() > 1) names.emplace_back("T");
  if (last.spin == 2) {
    names.insert(names.end(), {"Q", "U"});
  } else {
    names.insert(names.end(), {"FIRST", "SECOND"});
  }
  return names;
}

/// Collective.
PointFile open_points(Run& run, const InterpolateOptions& options) {
  run.outputs.keep(options.points);
  run.outputs.require_writable();
  run.progress.stage("reading " + options.points);
  const StageTimer timer(&run.times, "read");
  PointFile points = read_points(run.comm, options.points);
  for (const std::string& warning : points.warnings) run.warn(options.points + ": " + warning);
  return points;
}

void require_fields_of_psi(const PointJob& job) {
  if (!job.points.has_psi() || job.spec.fields.max_spin() == 2) return;
  throw UsageError(
      fmt::format("{}: has psi, so its values need Q and U; give a_lm with E and B, or points "
                  "without psi",
                  job.options.points));
}

/// Collective.
PointSet planned_points(Run& run, const PointJob& job) {
  run.progress.stage("planning");
  const StageTimer timer(&run.times, "plan");
  const auto span = [](View<const double> view) {
    return std::span<const double>(view.data(), to_size(view.size()));
  };
  const PointFile& file = job.points;
  return PointSet(run.comm, job.spec, span(file.theta()), span(file.phi()),
                  file.has_psi() ? span(file.psi()) : std::span<const double>());
}

/// Returns the files that the run reads and writes, with their bytes.
FileWork files_of(const PointJob& job, bool has_values) {
  const auto number = static_cast<double>(bytes_of(job.precision));
  const double alm = 2 * number *
                     static_cast<double>(ssize64(job.choice.components) *
                                         AlmLayout::full_size(job.spec.lmax, job.spec.mmax));
  const auto total = static_cast<double>(job.points.total);
  const double values = number * total * static_cast<double>(names_of_values(job).size());
  const double angles = 8 * total * static_cast<double>(job.points.angles.n_components());
  return has_values ? FileWork{2, angles + values, 1, alm} : FileWork{2, angles + alm, 1, values};
}

/// Puts the plan into the report and throws where a_lm, values and the transform do not fit the
/// memory. `before`: memory of the run in an earlier phase, without the points. Collective.
void require_plan(Run& run, const PointJob& job, const PointTransform& transform,
                  const FileWork& files, const std::vector<MemoryItem>& before = {}) {
  const std::int64_t number = bytes_of(job.held());
  const std::int64_t alm =
      2 * number * ssize64(job.choice.components) * transform.alm_layout().size();
  const MemoryItem values{"values",
                          number * transform.points().n_components() * transform.points().size()};
  std::vector<MemoryItem> held{job.program,
                               {"angles of the points", job.points.angles.bytes()},
                               {"points, rows and modes", transform.bytes()}};
  std::vector<MemoryItem> to_come{{"a_lm", alm}};
  (job.options.adjoint.empty() ? to_come : held).push_back(values);
  if (!before.empty()) {
    to_come.push_back({"a_lm of the analysis", alm});
    to_come = larger_phase(to_come, before);
  }
  MemoryEstimate estimate{std::move(held)};
  estimate.items.insert(estimate.items.end(), to_come.begin(), to_come.end());
  // The points are sorted by now.
  const std::int64_t beyond = MemoryMeter::high_water_bytes() - estimate.buffers();
  estimate.items.push_back({"sorting of the points", std::max<std::int64_t>(0, beyond)});
  record_point_plan(run, transform);
  std::optional<PointDevice> device;
  if (job.device) {
    const std::int64_t most_points = transform.points().report().most_points;
    device = {*job.device,
              device_memory_of_points(transform.plan(), most_points, FrameRotation::none)};
  }
  record_memory_of_points(run, estimate, device);
  record_files(run, files);
  const std::int64_t bytes = MemoryEstimate{std::move(to_come)}.buffers();
  distribute::require_memory_of_ranks(
      run.comm, bytes, 0,
      fmt::format("a_lm with lmax = {} and values of {} points", job.spec.lmax, job.points.total));
}

/// Computes the values of a_lm and writes them. Collective.
template <class T>
void evaluate(Run& run, const PointJob& job, const AlmBuffer<T>& alm, const std::string& unit,
              const Provenance& provenance, PointTransform& transform) {
  auto values = agreed(run.comm, [&] { return transform.make_values<T>(); });
  run.progress.stage("interpolation");
  transform.evaluate(alm, values);
  record_point_transform(run, transform.points().report(), transform.times());
  run.progress.stage("writing " + job.options.output());
  const StageTimer timer(&run.times, "write");
  write_values(run.outputs.begin(job.options.output()), {names_of_values(job), unit, job.precision},
               provenance, MapView<const T>(values.view()));
}

template <class T>
void evaluate_alm(Run& run, const PointJob& job, AlmReader& reader, PointTransform& transform) {
  const InterpolateOptions& options = job.options;
  auto alm = agreed(run.comm, [&] { return transform.make_alm<T>(); });
  run.progress.stage("reading " + options.alm);
  FileTraffic traffic{run.comm};
  read_alm<T>(traffic, options.alm, reader, job.choice, transform.alm_layout(), alm.view());
  add_traffic(run, traffic);
  Provenance provenance = run.provenance(options.alm);
  provenance.origin = reader.header().origin;
  provenance.lmax = job.spec.lmax;
  evaluate<T>(run, job, alm, reader.header().unit, provenance, transform);
}

template <class T>
void evaluate_map(Run& run, const PointJob& job, SkyAnalysis& analysis,
                  const std::vector<Sky>& skies, PointTransform& transform) {
  const Sky& sky = skies.front();
  auto [results, fraction] = analyse_all<T>(run, analysis, skies);
  Provenance provenance = run.provenance(sky.path);
  provenance.origin = sky.reader->header().origin;
  provenance.lmax = job.spec.lmax;
  put_analysis(analysis, fraction, results.front().report.iterations, provenance);
  const AlmLayout layout = analysis.transform->alm_layout();
  analysis.transform.reset();
  auto alm = agreed(run.comm, [&] { return transform.make_alm<T>(); });
  move_orders<T>(run.comm, layout, std::as_const(results.front().alm).view(),
                 transform.alm_layout(), alm.view());
  results.clear();
  evaluate<T>(run, job, alm, sky.unit(), provenance, transform);
}

/// Says in a line which values were computed.
void conclude(Run& run, const PointJob& job) {
  run.conclusion = fmt::format("{}: {} at {} point(s)", job.options.output(),
                               fmt::join(names_of_values(job), " "), job.points.total);
}

/// Throws where points and fields do not go together or do not fit the memory. Collective.
void require_points(Run& run, const PointJob& job) {
  require_fields_of_psi(job);
  require_memory_for_points(run.comm, job.spec, job.points, job.held());
}

/// Chooses the backend of the points. Collective.
void choose_backend(Run& run, PointJob& job) {
  job.spec.backend =
      choose_backend_of_points(run, job.options.transform.backend, job.spec, job.points.total);
}

/// Plans the transform; on the host where the device that --backend auto took is of no use.
/// Collective.
PointTransform planned_transform(Run& run, PointJob& job) {
  PointSet points = planned_points(run, job);
  const Backend of_points = job.spec.backend;
  return make_with_host_fallback(run, job.options.transform.backend, job.spec.backend, [&] {
    if (job.spec.backend != of_points) points = planned_points(run, job);
    job.device.reset();
    if (job.spec.backend == Backend::cuda) job.device = share_of_device(run.comm);
    return PointTransform(run.comm, job.spec, points);
  });
}

int values_of_alm(Run& run, const InterpolateOptions& options) {
  run.outputs.announce(options.output(), OutputContent::values);
  run.outputs.keep(options.alm);
  const std::unique_ptr<AlmReader> reader = open_alm(run.comm, options.alm);
  const AlmHeader& header = reader->header();
  for (const std::string& warning : header.warnings) run.warn(options.alm + ": " + warning);
  const TransformOptions& asked = options.transform;
  const FieldChoice choice =
      fields_at_points(options, choose_components(options.alm, header, asked.fields));
  const PointSpec spec =
      make_point_spec(run, {asked, options.epsilon, choice.fields, {header.lmax, header.mmax}});
  PointFile points = open_points(run, options);
  PointJob job{options,
               std::move(points),
               program_memory(),
               choice,
               spec,
               storage_precision(asked.precision, header.precision)};
  require_memory_for(run.comm, spec, job.held());
  choose_backend(run, job);
  require_points(run, job);
  PointTransform transform = planned_transform(run, job);
  require_plan(run, job, transform, files_of(job, false));
  if (run.options.dry_run) return 0;
  with_storage(job.precision, [&](auto storage) {
    evaluate_alm<decltype(storage)>(run, job, *reader, transform);
  });
  conclude(run, job);
  return 0;
}

int values_of_map(Run& run, const InterpolateOptions& options) {
  run.outputs.announce(options.output(), OutputContent::values);
  const TransformOptions& asked = options.transform;
  std::vector<Sky> skies;
  skies.push_back(open_sky(run, options.map(), options.variable, asked.fields));
  skies.front().choice = fields_at_points(options, skies.front().choice);
  const FieldChoice choice = skies.front().choice;
  SkyAnalysis analysis = plan_analysis(run, options.analysis, asked, skies);
  const TransformSpec& of_map = analysis.transform->spec();
  PointSpec spec =
      make_point_spec(run, {asked, options.epsilon, choice.fields, {of_map.lmax, of_map.mmax}});
  // As the report says of the analysis, but for `auto`.
  spec.backend = asked.backend == "cuda" ? Backend::cuda : Backend::host;
  MemoryEstimate of_analysis = estimate_memory(*analysis.transform, analysis.use);
  PointFile points = open_points(run, options);
  PointJob job{options, std::move(points), program_memory(), choice, spec, analysis.precision};
  require_points(run, job);
  PointTransform transform = planned_transform(run, job);
  record_plan(run, *analysis.transform, of_analysis, analysis.of_one);
  of_analysis.items.erase(of_analysis.items.begin());  // the program
  FileWork files = files_of(job, false);
  files.read_bytes += static_cast<double>(of_map.grid->n_pixels() * bytes_of(job.precision)) *
                      static_cast<double>(ssize64(choice.components));
  require_plan(run, job, transform, files, of_analysis.items);
  if (run.options.dry_run) return 0;
  with_storage(job.precision, [&](auto storage) {
    evaluate_map<decltype(storage)>(run, job, analysis, skies, transform);
  });
  conclude(run, job);
  return 0;
}

/// The fields whose values a file has.
FieldChoice fields_of_values(const InterpolateOptions& options, const PointFile& points,
                             const ValuesFile& values) {
  const std::int64_t n = values.values.n_components();
  std::string name = options.transform.fields;
  if (name.empty()) name = points.has_psi() || n == 3 ? "TQU" : n == 2 ? "QU" : "T";
  FieldChoice choice = fields_at_points(options, fields_named(name));
  const std::int64_t expected = points.has_psi() ? 1 : choice.fields.n_components();
  if (n != expected) {
    std::string wanted = "1 (T), 2 (Q, U) or 3 (T, Q, U)";
    if (points.has_psi())
      wanted = "1, which a detector sees";
    else if (!options.transform.fields.empty())
      wanted = fmt::format("{} of --fields {}", expected, name);
    throw DataError(options.adjoint,
                    fmt::format("has {} component(s) at each point; expected {}", n, wanted));
  }
  return choice;
}

int adjoint_of_values(Run& run, const InterpolateOptions& options) {
  if (options.transform.lmax < 0)
    throw UsageError("--adjoint: give --lmax, the highest degree of the a_lm");
  run.outputs.announce(options.output(), OutputContent::alm);
  run.outputs.keep(options.adjoint);
  PointFile points = open_points(run, options);
  ValuesFile values = read_values(run.comm, options.adjoint, points.total);
  for (const std::string& warning : values.warnings) run.warn(options.adjoint + ": " + warning);
  const FieldChoice choice = fields_of_values(options, points, values);
  const TransformOptions& asked = options.transform;
  const PointSpec spec =
      make_point_spec(run, {asked, options.epsilon, choice.fields, {asked.lmax}});
  PointJob job{options,
               std::move(points),
               program_memory(),
               choice,
               spec,
               storage_precision(asked.precision, values.header.precision)};
  require_memory_for(run.comm, spec, job.held());
  choose_backend(run, job);
  require_points(run, job);
  PointTransform transform = planned_transform(run, job);
  require_plan(run, job, transform, files_of(job, true));
  if (run.options.dry_run) return 0;
  auto alm = agreed(run.comm, [&] { return transform.make_alm<double>(); });
  run.progress.stage("adjoint interpolation");
  with_path(options.adjoint, [&] { transform.adjoint(values.values, alm); });
  values.values.release();
  record_point_transform(run, transform.points().report(), transform.times());
  AlmHeader header;
  header.lmax = spec.lmax;
  header.mmax = spec.mmax;
  header.components = choice.components;
  header.precision = job.precision;
  header.unit = values.header.unit;
  Provenance provenance = run.provenance(options.adjoint);
  provenance.origin = values.origin;
  provenance.lmax = spec.lmax;
  run.progress.stage("writing " + options.output());
  const StageTimer timer(&run.times, "write");
  write_alm(run.outputs.begin(options.output()), header, provenance, transform.alm_layout(),
            AlmView<const double>(alm.view()));
  run.conclusion = fmt::format("{}: adjoint of {} values, lmax {}", options.output(),
                               job.points.total, spec.lmax);
  return 0;
}

/// UsageError where an option speaks of a map and there is none.
void refuse_map_options(const InterpolateOptions& options) {
  const char* given =
      !options.variable.empty() ? "--variable" : given_analysis_option(options.analysis);
  if (given == nullptr) return;
  throw UsageError(
      fmt::format("{} is for maps, and {} is given; leave it out, or give a map: ringweave "
                  "interpolate MAP --points FILE OUT",
                  given, options.alm.empty() ? "--adjoint" : "--alm"));
}

}  // namespace

int interpolate(Run& run, const InterpolateOptions& options) {
  if (options.points.empty()) throw UsageError("give the points: --points FILE");
  const int n_inputs = static_cast<int>(!options.alm.empty()) +
                       static_cast<int>(!options.adjoint.empty()) +
                       static_cast<int>(options.files.size() > 1);
  if (n_inputs != 1) {
    throw UsageError(
        "give a MAP before OUT or --alm FILE, whose values are wanted, or --adjoint VALUES, whose "
        "adjoint is; one of them");
  }
  if (options.files.size() > 1) return values_of_map(run, options);
  refuse_map_options(options);
  return options.adjoint.empty() ? values_of_alm(run, options) : adjoint_of_values(run, options);
}

}  // namespace ringweave::detail::inline app
