// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/commands/commands.hpp"
#include "app/predict/memory_estimate.hpp"
#include "app/report/plan_table.hpp"
#include "app/transform_setup.hpp"
#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "io/field_files.hpp"
#include "io/point_files.hpp"
#include "ringweave/error.hpp"
#include "ringweave/files.hpp"
#include "ringweave/points.hpp"

namespace ringweave::detail::inline app {
namespace {

/// Points of a file and how their values are made.
struct PointJob {
  const InterpolateOptions& options;
  PointFile points;
  FieldChoice choice;
  PointSpec spec;
  Precision precision;
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

/// Names of the values: those of the fields, or of what a detector sees.
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

PointSpec make_point_spec(const InterpolateOptions& options, const FieldSet& fields, int lmax,
                          int mmax) {
  if (mmax > lmax)
    throw UsageError(
        fmt::format("--mmax {} is above lmax = {}; expected at most lmax", mmax, lmax));
  PointSpec spec;
  spec.lmax = lmax;
  spec.mmax = mmax;
  spec.fields = fields;
  spec.epsilon = options.epsilon;
  return spec.checked();
}

/// Collective.
PointFile open_points(Run& run, const InterpolateOptions& options) {
  run.outputs.keep(options.points);
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

void record_points(Run& run, const PointReport& report) {
  run.report["points"] = nlohmann::ordered_json{{"points", report.points},
                                                {"theta_taps", report.theta_taps},
                                                {"phi_taps", report.phi_taps},
                                                {"fine_rows", report.fine_rows},
                                                {"fine_columns", report.fine_columns},
                                                {"predicted_error", report.predicted_error},
                                                {"most_points", report.most_points},
                                                {"mean_points", report.mean_points},
                                                {"most_rows", report.most_rows},
                                                {"mean_rows", report.mean_rows}};
  run.detail(fmt::format(
      "points: {}, taps {} x {}, fine rows {} x {} (oversampling {:.2f}, {:.2f}), predicted error "
      "{:.1e}",
      report.points, report.theta_taps, report.phi_taps, report.fine_rows, report.fine_columns,
      report.theta_oversampling, report.phi_oversampling, report.predicted_error));
  run.detail(fmt::format("points of a rank: at most {}, mean {:.0f}; rows: at most {}, mean {:.0f}",
                         report.most_points, report.mean_points, report.most_rows,
                         report.mean_rows));
}

/// Throws where a_lm, values and the transform do not fit. Collective.
void require_memory_of(Run& run, const PointJob& job, const PointTransform& transform) {
  const std::int64_t number = bytes_of(job.precision);
  MemoryEstimate estimate = with_program(
      {{"a_lm", 2 * number * ssize64(job.choice.components) * transform.alm_layout().size()},
       {"values", number * transform.points().n_components() * transform.points().size()},
       {"points, rows and modes", transform.bytes()}});
  record_memory(run, estimate);
  if (run.options.dry_run || run.options.verbose) PlanTable(run).memory(estimate);
  run.outputs.require_writable();
  require_memory(run, estimate);
}

void add_stages(Run& run, PointTransform& transform) {
  for (const auto& [stage, entry] : transform.times().entries())
    run.times.add(stage, entry.seconds);
}

template <class T>
void evaluate(Run& run, const PointJob& job, AlmReader& reader, PointTransform& transform) {
  const InterpolateOptions& options = job.options;
  auto alm = agreed(run.comm, [&] { return transform.make_alm<T>(); });
  run.progress.stage("reading " + options.alm);
  FileTraffic traffic{run.comm};
  read_alm<T>(traffic, options.alm, reader, job.choice, transform.alm_layout(), alm.view());
  add_traffic(run, traffic);
  auto values = agreed(run.comm, [&] { return transform.make_values<T>(); });
  run.progress.stage("interpolation");
  transform.evaluate(alm, values);
  add_stages(run, transform);
  Provenance provenance = run.provenance(options.alm);
  provenance.origin = reader.header().origin;
  provenance.lmax = job.spec.lmax;
  run.progress.stage("writing " + options.output);
  const StageTimer timer(&run.times, "write");
  write_values(run.outputs.begin(options.output),
               {names_of_values(job), reader.header().unit, job.precision}, provenance,
               MapView<const T>(values.view()));
}

int evaluate_alm(Run& run, const InterpolateOptions& options) {
  run.outputs.announce(options.output, OutputContent::values);
  run.outputs.keep(options.alm);
  const std::unique_ptr<AlmReader> reader = open_alm(run.comm, options.alm);
  const AlmHeader& header = reader->header();
  for (const std::string& warning : header.warnings) run.warn(options.alm + ": " + warning);
  const FieldChoice choice =
      fields_at_points(options, choose_components(options.alm, header, options.fields));
  const int lmax = options.lmax >= 0 ? options.lmax : header.lmax;
  const int mmax = options.mmax >= 0 ? options.mmax : std::min(lmax, header.mmax);
  const PointSpec spec = make_point_spec(options, choice.fields, lmax, mmax);
  const PointJob job{options, open_points(run, options), choice, spec,
                     storage_precision(options.precision, header.precision)};
  require_fields_of_psi(job);
  const PointSet points = planned_points(run, job);
  PointTransform transform(run.comm, spec, points);
  record_points(run, points.report());
  require_memory_of(run, job, transform);
  if (run.options.dry_run) return 0;
  with_storage(job.precision,
               [&](auto storage) { evaluate<decltype(storage)>(run, job, *reader, transform); });
  run.conclusion = fmt::format("{}: {} at {} points", options.output,
                               fmt::join(names_of_values(job), " "), job.points.total);
  return 0;
}

/// The fields whose values a file has.
FieldChoice fields_of_values(const InterpolateOptions& options, const PointFile& points,
                             const ValuesFile& values) {
  const std::int64_t n = values.values.n_components();
  std::string name = options.fields;
  if (name.empty()) name = points.has_psi() || n == 3 ? "TQU" : n == 2 ? "QU" : "T";
  FieldChoice choice = fields_at_points(options, fields_named(name));
  const std::int64_t expected = points.has_psi() ? 1 : choice.fields.n_components();
  if (n != expected) {
    throw DataError(
        options.adjoint,
        fmt::format("has {} component(s) at each point; {} {} of --fields {}", n, expected,
                    points.has_psi() ? "is what a detector sees" : "are those", name));
  }
  return choice;
}

int adjoint_of_values(Run& run, const InterpolateOptions& options) {
  if (options.lmax < 0) throw UsageError("--adjoint: give --lmax, the highest degree of the a_lm");
  run.outputs.announce(options.output, OutputContent::alm);
  run.outputs.keep(options.adjoint);
  PointFile points = open_points(run, options);
  ValuesFile values = read_values(run.comm, options.adjoint, points.total);
  for (const std::string& warning : values.warnings) run.warn(options.adjoint + ": " + warning);
  const FieldChoice choice = fields_of_values(options, points, values);
  const PointSpec spec = make_point_spec(options, choice.fields, options.lmax,
                                         options.mmax >= 0 ? options.mmax : options.lmax);
  const PointJob job{options, std::move(points), choice, spec,
                     storage_precision(options.precision, values.header.precision)};
  require_fields_of_psi(job);
  const PointSet set = planned_points(run, job);
  PointTransform transform(run.comm, spec, set);
  record_points(run, set.report());
  require_memory_of(run, job, transform);
  if (run.options.dry_run) return 0;
  auto alm = agreed(run.comm, [&] { return transform.make_alm<double>(); });
  run.progress.stage("adjoint interpolation");
  with_path(options.adjoint, [&] { transform.adjoint(values.values, alm); });
  add_stages(run, transform);
  AlmHeader header;
  header.lmax = spec.lmax;
  header.mmax = spec.mmax;
  header.components = choice.components;
  header.precision = job.precision;
  header.unit = values.header.unit;
  Provenance provenance = run.provenance(options.adjoint);
  provenance.origin = values.origin;
  provenance.lmax = spec.lmax;
  run.progress.stage("writing " + options.output);
  const StageTimer timer(&run.times, "write");
  write_alm(run.outputs.begin(options.output), header, provenance, transform.alm_layout(),
            AlmView<const double>(alm.view()));
  run.conclusion =
      fmt::format("{}: adjoint of {} values, lmax {}", options.output, job.points.total, spec.lmax);
  return 0;
}

}  // namespace

int interpolate(Run& run, const InterpolateOptions& options) {
  if (options.points.empty()) throw UsageError("give the points: --points FILE");
  if (options.alm.empty() == options.adjoint.empty()) {
    throw UsageError(
        "give --alm FILE, whose values are wanted, or --adjoint VALUES, whose adjoint is");
  }
  return options.adjoint.empty() ? evaluate_alm(run, options) : adjoint_of_values(run, options);
}

}  // namespace ringweave::detail::inline app
