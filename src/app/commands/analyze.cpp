// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "app/analysis_checks.hpp"
#include "app/backend_choice.hpp"
#include "app/commands/commands.hpp"
#include "app/content.hpp"
#include "app/predict/memory_estimate.hpp"
#include "app/report/alm_plan.hpp"
#include "app/report/plan_table.hpp"
#include "app/report/transform_report.hpp"
#include "app/sky_mask.hpp"
#include "app/spectra_unit.hpp"
#include "app/transform_setup.hpp"
#include "base/checked_cast.hpp"
#include "convolve/masked_map.hpp"
#include "distribute/mpi/agree.hpp"
#include "io/field_files.hpp"
#include "io/spectra_table.hpp"
#include "ringweave/analysis.hpp"
#include "ringweave/error.hpp"
#include "ringweave/files.hpp"
#include "ringweave/smoothing.hpp"
#include "ringweave/transform.hpp"

namespace ringweave::detail::inline app {
namespace {

/// A map to analyse.
struct Sky {
  std::string path;
  std::unique_ptr<MapReader> reader;
  FieldChoice choice;

  const std::string& unit() const {
    return reader->header().columns[to_size(std::int64_t{choice.columns.front()})].unit;
  }
};

/// One or two maps, which are analysed in the same way.
struct AnalysisJob {
  const AnalyzeOptions& options;
  std::vector<Sky> skies;
  SphericalHarmonicTransform& transform;
  WeightFiles weights;
  int n_iter;
  SpectraUnit unit;  ///< of the spectra
};

/// a_lm, and information on the analysis.
template <class T>
struct Analysed {
  AlmBuffer<T> alm;
  AnalysisReport report;
};

/// Reads a map into new memory. Collective.
template <class T>
MapBuffer<T> read_sky(Run& run, const AnalysisJob& job, const Sky& sky) {
  const LocalRings& rings = job.transform.rings();
  run.progress.stage("reading " + sky.path);
  auto map = agreed(
      run.comm, [&] { return MapBuffer<T>(sky.choice.fields.n_components(), rings.n_pixels()); });
  FileTraffic traffic{run.comm};
  read_map<T>(traffic, sky.path, *sky.reader, sky.choice, rings, map.view());
  add_traffic(run, traffic);
  return map;
}

template <class T>
Analysed<T> transform_map(Run& run, const AnalysisJob& job, const Sky& sky,
                          std::shared_ptr<const AnalysisWeights> weights, MapBuffer<T>& map) {
  Analysis analysis(job.transform, std::move(weights));
  run.progress.stage("analysis");
  const auto progress = [&](int pass, int passes, double residual) {
    run.progress.step(pass, passes, residual >= 0 ? fmt::format("residual {:.2e}", residual) : "");
  };
  const double tolerance = job.options.analysis.tolerance;
  if (tolerance == 0 && job.n_iter == 0)
    return {analysis.once<T>(std::move(map)), {.transforms = 1}};
  auto alm = agreed(run.comm, [&] { return job.transform.make_alm<T>(); });
  constexpr int most_passes = 100;
  AnalysisReport report =
      tolerance > 0 ? analysis.conjugate_gradients<T>(map.view(), tolerance, most_passes,
                                                      alm.view(), progress)
                    : analysis.jacobi_destroying<T>(map.view(), job.n_iter, alm.view(), progress);
  const TransformSpec& spec = job.transform.spec();
  if (tolerance == 0)
    require_converging(run.comm, sky.path, *spec.grid, spec.lmax, report.residuals);
  // Clang 14 loses the old value where a template assigns a list without its type.
  run.report["analysis"] =
      nlohmann::ordered_json{{"iterations", report.iterations}, {"residuals", report.residuals}};
  run.say(fmt::format("{} iterations, relative residual {:.3e}", report.iterations,
                      report.residuals.back()));
  note_what_remains(run, sky.path, spec.lmax, report.residuals);
  if (tolerance > 0 && report.residuals.back() > tolerance) {
    run.warn(fmt::format("the residual did not reach --tol {} within {} passes", tolerance,
                         most_passes));
  }
  return {std::move(alm), std::move(report)};
}

/// Reads a map and makes its a_lm. Collective.
template <class T>
Analysed<T> analysed(Run& run, const AnalysisJob& job, const Sky& sky,
                     std::shared_ptr<const AnalysisWeights> weights, const SkyMask& mask) {
  const AnalysisOptions& options = job.options.analysis;
  MapBuffer<T> map = read_sky<T>(run, job, sky);
  const MaskOptions treatment{.unseen = unseen_policy(options.unseen),
                              .remove = remove_choice(options.remove),
                              .mask = mask.values};
  const std::vector<std::int64_t> n_unseen = with_path(sky.path, [&] {
    return MaskedMap(run.comm, job.transform.rings(), treatment, map.view()).unseen_pixels();
  });
  const std::string unseen = unseen_text(
      n_unseen, names_of_fields(sky.choice, sky.reader->header()), mask.values != nullptr);
  if (!unseen.empty()) run.say(unseen + " taken as zero");
  return transform_map<T>(run, job, sky, std::move(weights), map);
}

/// UsageError where two inputs differ in their fields.
void require_same_fields(const AnalyzeOptions& options, const std::vector<FieldChoice>& choices) {
  if (choices.front().name == choices.back().name) return;
  throw UsageError(fmt::format("{} holds {} and {} {}; give --fields that both have",
                               options.inputs.front(), choices.front().name, options.inputs.back(),
                               choices.back().name));
}

/// Where the a_lm and spectra come from.
Provenance provenance_of(const Run& run, const AnalysisJob& job, const SkyFraction& fraction) {
  const AnalyzeOptions& options = job.options;
  Provenance provenance = run.provenance(fmt::format("{}", fmt::join(options.inputs, ", ")));
  provenance.origin = job.skies.front().reader->header().origin;
  if (job.skies.size() > 1) {
    // The keywords of one are not those of both.
    provenance.origin.keywords.clear();
    const std::vector<std::string>& other = job.skies.back().reader->header().origin.history;
    provenance.origin.history.insert(provenance.origin.history.end(), other.begin(), other.end());
  }
  provenance.lmax = job.transform.alm_layout().lmax();
  provenance.quadrature = options.analysis.weights;
  provenance.removed = options.analysis.remove;
  put_mask(options.analysis, fraction, provenance);
  return provenance;
}

void divide(double divisor, Spectra& spectra) {
  for (int n = 0; n < Spectra::n_names; ++n) {
    const auto name = static_cast<Spectra::Name>(n);
    if (!spectra.has(name)) continue;
    for (double& value : spectra.values(name)) value /= divisor;
  }
}

/// The analyses of all maps of a run, and the sky that the mask left of them.
template <class T>
struct Analyses {
  std::vector<Analysed<T>> results;
  SkyFraction fraction;
};

/// Weights and mask are freed with the maps. Collective.
template <class T>
Analyses<T> analyse_all(Run& run, const AnalysisJob& job) {
  const LocalRings& rings = job.transform.rings();
  const auto weights =
      std::make_shared<const AnalysisWeights>(load_weights(run, job.weights, rings));
  const SkyMask mask = read_mask(run, job.options.analysis, rings);
  Analyses<T> all{{}, mask.fraction};
  TransformCount count;
  for (const Sky& sky : job.skies) {
    all.results.push_back(analysed<T>(run, job, sky, weights, mask));
    const AnalysisReport& report = all.results.back().report;
    count += {.all_fields = report.transforms, .all_fields_on_spectra = report.on_spectra};
  }
  job.transform.release_workspace();
  record_transform(run, job.transform, count);
  return all;
}

template <class T>
void run_with(Run& run, const AnalysisJob& job) {
  const AnalyzeOptions& options = job.options;
  const auto [results, fraction] = analyse_all<T>(run, job);
  const AlmLayout& layout = job.transform.alm_layout();
  Provenance provenance = provenance_of(run, job, fraction);
  provenance.iterations = results.front().report.iterations;
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

/// What is given to analyze: maps or a_lm.
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
  const AnalysisOptions& analysis = options.analysis;
  const char* given = !options.alm.empty()            ? "--alm"
                      : analysis.n_iter.has_value()   ? "--iter"
                      : analysis.tolerance > 0        ? "--tol"
                      : analysis.weights != "none"    ? "--weights"
                      : !analysis.mask.empty()        ? "--mask"
                      : !analysis.apodise.empty()     ? "--apodise"
                      : !analysis.mask_column.empty() ? "--mask-column"
                      : options.divide_by_fsky        ? "--divide-by-fsky"
                      : analysis.remove != "none"     ? "--remove"
                      : analysis.unseen != "restore"  ? "--unseen"
                                                      : nullptr;
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
  require_memory(run, estimate);
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
    const std::string& path = options.inputs[i];
    const MapHeader& header = inputs.maps[i]->header();
    for (const std::string& warning : header.warnings) run.warn(path + ": " + warning);
    choices.push_back(choose_fields(path, header, options.transform.fields));
    note_columns_left_out(run, path, header, choices.back());
    skies.push_back({path, std::move(inputs.maps[i]), choices.back()});
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
  const MapHeader& header = skies.front().reader->header();
  const FieldChoice& choice = skies.front().choice;
  if (choice.name == "QU" && options.analysis.remove != "none")
    throw UsageError("--remove fits T; with Q and U only use --remove none");
  const SpectraUnit unit =
      unit_of_spectra(run, options.inputs, {skies.front().unit(), skies.back().unit()});
  const double tolerance = options.analysis.tolerance;
  const RingGrid& full = *header.grid;
  require_weights(skies.front().path, full);
  check_mask(run, options.analysis, header);
  const int lmax = options.transform.lmax >= 0 ? options.transform.lmax : full.default_lmax();
  const int usual_n_iter = is_exact(full, lmax) ? 0 : 3;
  const int n_iter = tolerance > 0 ? 0 : options.analysis.n_iter.value_or(usual_n_iter);
  const bool whole_sky =
      n_iter > 0 || tolerance > 0 || skies.size() > 1 || !options.analysis.mask.empty();
  const auto grid = grid_to_visit(*skies.front().reader, whole_sky);
  TransformSpec spec = make_spec(options.transform, grid, choice.fields);
  warn_beyond_grid(run, skies.front().path, full, lmax);
  spec.backend = choose_backend(run, options.transform.backend);
  const bool is_single = std::all_of(skies.begin(), skies.end(), [](const Sky& sky) {
    return sky.reader->header().precision == Precision::single_;
  });
  const Precision precision = storage_precision(
      options.transform.precision, is_single ? Precision::single_ : Precision::double_);
  require_memory_for(run, spec, precision);
  const WeightFiles weights = find_weights(run, options.analysis.weights, *grid);
  const Operation operation = tolerance > 0 ? Operation::analysis_conjugate
                              : n_iter > 0  ? Operation::analysis_iterating
                                            : Operation::analysis_consuming;
  const PixelWeights held = weights.pixel.empty() ? PixelWeights::none : PixelWeights::held;
  const MemoryUse use{.operation = operation,
                      .precision = precision,
                      .pixel_weights = held,
                      .beside = mask_beside(options.analysis)};
  const auto transform = plan_transform(run, spec, use, options.transform.backend);
  MemoryEstimate estimate = estimate_memory(*transform, use);
  const std::int64_t alm_bytes =
      2 * spec.fields.n_components() * bytes_of(precision) * transform->alm_layout().size();
  const auto n_skies = static_cast<int>(skies.size());
  if (n_skies > 1) estimate.items.push_back({"a_lm of the first map", alm_bytes});
  record_plan(run, *transform, estimate, n_skies * planned_analysis(n_iter, tolerance, held));
  const auto components = static_cast<double>(spec.fields.n_components());
  record_files(
      run, {.n_read = n_skies,
            .read_bytes = components * static_cast<double>(grid->n_pixels() * bytes_of(precision)),
            .n_written = options.alm.empty() ? 0 : 1,
            .written_bytes =
                2 * components *
                static_cast<double>(AlmLayout(spec.lmax, spec.mmax).size() * bytes_of(precision))});
  run.outputs.require_writable();
  require_memory(run, estimate);
  if (run.options.dry_run) return 0;

  const AnalysisJob job{options, std::move(skies), *transform, weights, n_iter, unit};
  with_storage(precision, [&](auto storage) { run_with<decltype(storage)>(run, job); });
  run.conclusion = fmt::format("{}: {} analysed to lmax {}", fmt::join(options.inputs, " and "),
                               job.skies.front().choice.name, spec.lmax);
  return 0;
}

}  // namespace ringweave::detail::inline app
