// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/analysis_checks.hpp"
#include "app/commands/commands.hpp"
#include "app/content.hpp"
#include "app/predict/memory_estimate.hpp"
#include "app/report/alm_plan.hpp"
#include "app/report/plan_table.hpp"
#include "app/report/transform_report.hpp"
#include "app/sky_analysis.hpp"
#include "app/spectra_unit.hpp"
#include "app/transform_setup.hpp"
#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "io/field_files.hpp"
#include "io/spectra_table.hpp"
#include "ringweave/analysis.hpp"
#include "ringweave/error.hpp"
#include "ringweave/files.hpp"
#include "ringweave/transform.hpp"

namespace ringweave::detail::inline app {
namespace {

/// One or two maps, which are analysed in the same way.
struct AnalysisJob {
  const AnalyzeOptions& options;
  std::vector<Sky> skies;
  SkyAnalysis analysis;
  SpectraUnit unit;  ///< of the spectra
};

/// UsageError where two inputs differ in their fields.
void require_same_fields(const AnalyzeOptions& options, const std::vector<FieldChoice>& choices) {
  if (choices.front().name == choices.back().name) return;
  throw UsageError(fmt::format("{} holds {} and {} {}; give --fields that both have",
                               options.inputs.front(), choices.front().name, options.inputs.back(),
                               choices.back().name));
}

/// Returns the origin of the a_lm and spectra.
Provenance provenance_of(const Run& run, const AnalysisJob& job, const SkyFraction& fraction,
                         int iterations) {
  const AnalyzeOptions& options = job.options;
  Provenance provenance = run.provenance(fmt::format("{}", fmt::join(options.inputs, ", ")));
  provenance.origin = job.skies.front().reader->header().origin;
  if (job.skies.size() > 1) {
    // The keywords of one are not those of both.
    provenance.origin.keywords.clear();
    const std::vector<std::string>& other = job.skies.back().reader->header().origin.history;
    provenance.origin.history.insert(provenance.origin.history.end(), other.begin(), other.end());
  }
  provenance.lmax = job.analysis.transform->alm_layout().lmax();
  put_analysis(job.analysis, fraction, iterations, provenance);
  return provenance;
}

void divide(double divisor, Spectra& spectra) {
  for (int n = 0; n < Spectra::n_names; ++n) {
    const auto name = static_cast<Spectra::Name>(n);
    if (!spectra.has(name)) continue;
    for (double& value : spectra.values(name)) value /= divisor;
  }
}

template <class T>
void run_with(Run& run, const AnalysisJob& job) {
  const AnalyzeOptions& options = job.options;
  const auto [results, fraction] = analyse_all<T>(run, job.analysis, job.skies);
  const AlmLayout& layout = job.analysis.transform->alm_layout();
  const Provenance provenance =
      provenance_of(run, job, fraction, results.front().report.iterations);
  const StageTimer timer(&run.times, "write");
  if (!options.alm.empty()) {
    run.progress.stage("writing " + options.alm);
    const AlmHeader header{layout.lmax(),
                           layout.mmax(),
                           job.skies.front().choice.components,
                           sizeof(T) == 4 ? Precision::single_ : Precision::double_,
                           job.skies.front().unit(),
                           {},
                           {},
                           job.skies.front().reader->header().coordsys};
    write_alm(run.outputs.begin(options.alm), header, provenance, layout,
              AlmView<const T>(results.front().alm.view()));
  }
  if (!options.cl.empty()) {
    run.progress.stage("writing " + options.cl);
    const AlmView<const T> first = results.front().alm.view();
    Spectra spectra = results.size() == 1
                          ? power_spectra<T>(run.comm, layout, first)
                          : cross_spectra<T>(run.comm, layout, first, results.back().alm.view());
    divide((options.divide_by_fsky ? fraction.of_squares : 1) / job.unit.factor, spectra);
    write_spectra(run.outputs.begin(options.cl), provenance, spectra, job.unit.name);
  }
}

/// The inputs of `analyze`: maps or a_lm.
struct Inputs {
  std::vector<std::unique_ptr<MapReader>> maps;
  std::vector<std::unique_ptr<AlmReader>> alms;
};

/// Collective. Error  DataError; UsageError where a map and a_lm come together.
Inputs open_inputs(Run& run, const AnalyzeOptions& options) {
  Inputs inputs;
  for (const std::string& path : options.inputs) {
    run.outputs.keep(path);
    Content content = open_map_or_alm(run.comm, path, options.variable);
    if (content.map != nullptr) {
      inputs.maps.push_back(std::move(content.map));
    } else {
      inputs.alms.push_back(std::move(content.alm));
    }
  }
  if (!inputs.maps.empty() && !inputs.alms.empty()) {
    throw UsageError(
        fmt::format("{} and {}: one is a map and one holds a_lm; make a_lm of the map first, with "
                    "`ringweave analyze MAP --alm FILE`",
                    options.inputs.front(), options.inputs.back()));
  }
  return inputs;
}

/// UsageError where an option speaks of a map and there is none.
void refuse_map_options(const AnalyzeOptions& options) {
  const char* given = !options.alm.empty()     ? "--alm"
                      : options.divide_by_fsky ? "--divide-by-fsky"
                                               : given_analysis_option(options.analysis);
  if (given == nullptr) return;
  throw UsageError(fmt::format("{} is for maps, and {} holds a_lm; leave it out", given,
                               options.inputs.front()));
}

/// Spectra of a_lm in files. Collective.
template <class T>
void write_spectra_of(Run& run, const AnalyzeOptions& options, const Inputs& inputs,
                      const std::vector<FieldChoice>& choices, const AlmLayout& layout,
                      const SpectraUnit& unit) {
  std::vector<AlmBuffer<T>> alms;
  Provenance provenance = run.provenance(fmt::format("{}", fmt::join(options.inputs, ", ")));
  for (std::size_t i = 0; i < inputs.alms.size(); ++i) {
    const std::string& path = options.inputs[i];
    AlmReader& reader = *inputs.alms[i];
    run.progress.stage("reading " + path);
    alms.push_back(agreed(
        run.comm, [&] { return AlmBuffer<T>(ssize64(choices[i].components), layout.size()); }));
    FileTraffic traffic{run.comm};
    read_alm<T>(traffic, path, reader, choices[i], layout, alms.back().view());
    add_traffic(run, traffic);
    const FileOrigin& origin = reader.header().origin;
    if (inputs.alms.size() == 1) provenance.origin.keywords = origin.keywords;
    provenance.origin.history.insert(provenance.origin.history.end(), origin.history.begin(),
                                     origin.history.end());
  }
  provenance.lmax = layout.lmax();
  const AlmView<const T> first = alms.front().view();
  Spectra spectra = alms.size() == 1
                        ? power_spectra<T>(run.comm, layout, first)
                        : cross_spectra<T>(run.comm, layout, first, alms.back().view());
  divide(1 / unit.factor, spectra);
  const StageTimer timer(&run.times, "write");
  write_spectra(run.outputs.begin(options.cl), provenance, spectra, unit.name);
}

/// Collective.
int analyze_alms(Run& run, const AnalyzeOptions& options, const Inputs& inputs) {
  refuse_map_options(options);
  std::vector<FieldChoice> choices;
  int lmax = options.transform.lmax >= 0 ? options.transform.lmax : std::numeric_limits<int>::max();
  int mmax = options.transform.mmax >= 0 ? options.transform.mmax : lmax;
  for (std::size_t i = 0; i < inputs.alms.size(); ++i) {
    const AlmHeader& header = inputs.alms[i]->header();
    for (const std::string& warning : header.warnings) run.warn(options.inputs[i] + ": " + warning);
    choices.push_back(choose_components(options.inputs[i], header, options.transform.fields));
    lmax = std::min(lmax, header.lmax);
    mmax = std::min(mmax, header.mmax);
  }
  require_same_fields(options, choices);
  const AlmLayout layout = own_orders(run.comm, lmax, std::min(lmax, mmax));
  const AlmHeader& first = inputs.alms.front()->header();
  const Precision precision = storage_precision(options.transform.precision, first.precision);
  const SpectraUnit unit =
      unit_of_spectra(run, options.inputs, {first.unit, inputs.alms.back()->header().unit});
  const std::int64_t n_files = ssize64(inputs.alms);
  const MemoryEstimate estimate =
      record_plan(run, {.layout = layout,
                        .n_components = ssize64(choices.front().components),
                        .precision = precision,
                        .n_held = n_files,
                        .n_read = n_files,
                        .n_written = 0});
  run.outputs.require_writable();
  require_memory(run.comm, estimate);
  if (run.options.dry_run) return 0;
  with_storage(precision, [&](auto storage) {
    write_spectra_of<decltype(storage)>(run, options, inputs, choices, layout, unit);
  });
  run.conclusion = fmt::format("{}: spectra of {} to lmax {}", options.cl,
                               fmt::join(options.inputs, " and "), lmax);
  return 0;
}

/// The maps of the run, which are on one grid and have the same fields. Collective.
std::vector<Sky> skies_of(Run& run, const AnalyzeOptions& options, Inputs& inputs) {
  std::vector<Sky> skies;
  std::vector<FieldChoice> choices;
  for (std::size_t i = 0; i < inputs.maps.size(); ++i) {
    skies.push_back(
        sky_of(run, options.inputs[i], std::move(inputs.maps[i]), options.transform.fields));
    choices.push_back(skies.back().choice);
  }
  require_same_fields(options, choices);
  const RingGrid& grid = *skies.front().reader->header().grid;
  const RingGrid& other = *skies.back().reader->header().grid;
  if (!has_same_rings(grid, other)) {
    throw UsageError(
        fmt::format("{} is on {} and {} on {}; make a_lm of each with `ringweave analyze MAP --alm "
                    "FILE`, and give these to analyze",
                    skies.front().path, grid.name(), skies.back().path, other.name()));
  }
  warn_of_coordinates(run, skies.back().path, skies.back().reader->header(), skies.front().path,
                      skies.front().reader->header());
  return skies;
}

}  // namespace

int analyze(Run& run, const AnalyzeOptions& options) {
  if (options.alm.empty() && options.cl.empty()) {
    throw UsageError("nothing to write: give --alm FILE, --cl FILE or both");
  }
  if (options.inputs.size() > 1 && !options.alm.empty())
    throw UsageError("--alm: a_lm are made of one map at a time; with two, give --cl");
  if (options.divide_by_fsky && options.analysis.mask.empty())
    throw UsageError("--divide-by-fsky belongs to --mask; give the mask, or leave it out");
  if (options.divide_by_fsky && options.cl.empty())
    throw UsageError("--divide-by-fsky belongs to --cl; give it, or leave the other out");
  run.outputs.announce(options.alm, OutputContent::alm);
  run.outputs.announce(options.cl, OutputContent::spectra);
  Inputs inputs = open_inputs(run, options);
  if (inputs.maps.empty()) return analyze_alms(run, options, inputs);
  std::vector<Sky> skies = skies_of(run, options, inputs);
  const SpectraUnit unit =
      unit_of_spectra(run, options.inputs, {skies.front().unit(), skies.back().unit()});
  SkyAnalysis analysis = plan_analysis(run, options.analysis, options.transform, skies);
  const TransformSpec& spec = analysis.transform->spec();
  const Precision precision = analysis.precision;
  MemoryEstimate estimate = estimate_memory(*analysis.transform, analysis.use);
  const std::int64_t alm_bytes = 2 * spec.fields.n_components() * bytes_of(precision) *
                                 analysis.transform->alm_layout().size();
  const auto n_skies = static_cast<int>(skies.size());
  if (n_skies > 1) estimate.items.push_back({"a_lm of the first map", alm_bytes});
  record_plan(run, *analysis.transform, estimate, n_skies * analysis.of_one);
  const auto components = static_cast<double>(spec.fields.n_components());
  record_files(
      run,
      {.n_read = n_skies,
       .read_bytes = components * static_cast<double>(spec.grid->n_pixels() * bytes_of(precision)),
       .n_written = options.alm.empty() ? 0 : 1,
       .written_bytes =
           2 * components *
           static_cast<double>(AlmLayout(spec.lmax, spec.mmax).size() * bytes_of(precision))});
  run.outputs.require_writable();
  require_memory(run.comm, estimate);
  if (run.options.dry_run) return 0;

  const std::string name = skies.front().choice.name;
  const int lmax = spec.lmax;
  const AnalysisJob job{options, std::move(skies), std::move(analysis), unit};
  with_storage(precision, [&](auto storage) { run_with<decltype(storage)>(run, job); });
  run.conclusion =
      fmt::format("{}: {} analysed to lmax {}", fmt::join(options.inputs, " and "), name, lmax);
  return 0;
}

}  // namespace ringweave::detail::inline app
