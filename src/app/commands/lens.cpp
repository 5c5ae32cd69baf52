// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/alm_source.hpp"
#include "app/analysis_checks.hpp"
#include "app/backend_choice.hpp"
#include "app/commands/commands.hpp"
#include "app/content.hpp"
#include "app/lens/lens_job.hpp"
#include "app/lens/lens_options.hpp"
#include "app/lens/lens_plan.hpp"
#include "app/lens/lens_report.hpp"
#include "app/lens/lensed_map.hpp"
#include "app/lens/potential.hpp"
#include "app/maps/map_list.hpp"
#include "app/report/point_report.hpp"
#include "app/sky_analysis.hpp"
#include "app/table_input.hpp"
#include "app/transform_setup.hpp"
#include "base/stage_timer.hpp"
#include "convolve/masked_map.hpp"
#include "distribute/mpi/agree.hpp"
#include "distribute/order_moves.hpp"
#include "io/field_files.hpp"
#include "ringweave/error.hpp"
#include "ringweave/files.hpp"
#include "ringweave/lensing.hpp"

namespace ringweave::detail::inline app {
namespace {

/// Names all outputs; OUT has `content`.
void announce(Run& run, const LensOptions& options, OutputContent content) {
  run.outputs.announce(options.output(), content);
  run.outputs.announce(options.save_alm, OutputContent::alm);
  run.outputs.announce(options.save_potential, OutputContent::alm);
  run.outputs.announce(options.deflection, OutputContent::map);
}

/// UsageError where a file cannot hold maps of the grid.
void require_map_files(const LensOptions& options, const RingGrid& grid) {
  require_map_file(options.output(), grid);
  if (!options.deflection.empty()) require_map_file(options.deflection, grid);
}

/// The provenance of outputs that are made of a file.
Provenance provenance_of(const Run& run, const std::string& path, const FileOrigin& origin) {
  Provenance provenance = run.provenance(path);
  provenance.origin = origin;
  return provenance;
}

/// The seed of --seed, or a new one, which is printed. Collective.
std::uint64_t seed_of(Run& run, const LensOptions& options) {
  if (options.seed.empty()) {
    const std::uint64_t seed = fresh_seed(run.comm);
    run.print_line(fmt::format("seed {}", seed));
    return seed;
  }
  return parse_seeds(options.seed).front();
}

/// The specification of the transform to the pixels, on the --backend asked for. Collective.
PointSpec spec_at_pixels(Run& run, const LensOptions& options, const RingGrid& grid,
                         const FieldSet& fields, const PointDegrees& usual) {
  PointSpec spec = make_point_spec(run, {options.transform, options.epsilon, fields, usual});
  spec.backend = choose_backend_of_points(run, options.transform.backend, spec, grid.n_pixels());
  return spec;
}

/// A deflection, and the transform to where it moves the pixels.
struct PlannedLensing {
  Deflection deflection;
  Lensing lensing;
};

/// Makes the deflection of the job's grid, its inverse for --inverse, and plans the transform.
/// Nothing with --dry-run.
/// analysis  memory that the analysis of a map holds on this rank; empty where there is none
/// Collective.
std::optional<PlannedLensing> plan_job(Run& run, LensJob& job, const AlmSource& source,
                                       const PotentialSource& potential,
                                       const std::vector<MemoryItem>& analysis = {}) {
  const LensOptions& options = job.options;
  run.outputs.require_writable();
  {
    LensPlan plan = agreed(
        run.comm, [&] { return LensPlan(job, potential, run.comm.rank(), run.comm.size()); });
    const std::optional<PointDevice> device = device_of_pixels(run, job, plan);
    record_lens_plan(run, job, potential, plan, analysis, device);
    if (run.options.dry_run) {
      record_points(run, plan.lensed.report);
      return std::nullopt;
    }
  }
  if (!options.cl.empty()) {
    job.provenance.seed = seed_of(run, options);
    run.report["seed"] = *job.provenance.seed;
  }
  Deflection deflection = make_deflection(run, job, potential, source);
  tell_of_deflection(run, options, deflection);
  if (options.inverse) deflection = inverse_of(run, options, deflection);
  Lensing lensing = planned_lensing(run, job, deflection);
  record_points(run, lensing.transform().points().report());
  write_deflection(run, job, deflection);
  return PlannedLensing{std::move(deflection), std::move(lensing)};
}

void conclude(Run& run, const LensJob& job) {
  run.conclusion =
      fmt::format("{}: {} {} on {}, lmax {}", job.options.output(), job.choice.name,
                  job.options.inverse ? "delensed" : "lensed", job.grid->name(), job.spec.lmax);
}

/// Reads or draws the unlensed a_lm. Drawn ones are T, E, B and the potential. Collective.
template <class T>
AlmBuffer<T> find_alm(Run& run, const LensJob& job, AlmSource& source, const AlmLayout& layout) {
  const bool is_drawn = source.alm == nullptr;
  const std::string& path = job.provenance.input;
  const std::int64_t n = is_drawn ? 4 : job.choice.fields.n_components();
  auto alm = agreed(run.comm, [&] { return AlmBuffer<T>(n, layout.size()); });
  if (is_drawn) {
    const StageTimer timer(&run.times, "draw");
    with_path(path, [&] {
      agree(run.comm, [&] { draw_alm(*source.spectra, *job.provenance.seed, layout, alm.view()); });
    });
    return alm;
  }
  run.progress.stage("reading " + path);
  FileTraffic traffic{run.comm};
  read_alm<T>(traffic, path, *source.alm, source.choice, layout, alm.view());
  add_traffic(run, traffic);
  return alm;
}

template <class T>
void lens_source(Run& run, LensJob& job, AlmSource& source, PlannedLensing& planned) {
  const AlmLayout& layout = planned.lensing.alm_layout();
  AlmBuffer<T> found = find_alm<T>(run, job, source, layout);
  const std::int64_t first = source.alm == nullptr && job.choice.name == "QU" ? 1 : 0;
  const AlmView<T> alm = found.view().components(first, job.choice.fields.n_components());
  scale<T>(alm, source.factor);
  if (!job.options.save_alm.empty()) {
    write_lens_alm(run, job, job.options.save_alm, job.choice.components, job.unit, layout,
                   AlmView<const T>(alm));
  }
  write_lensed<T>(run, job, planned.deflection, planned.lensing, alm);
}

/// A lensed map of a_lm in a file or drawn, or of a_lm that --inverse moves back. Collective.
int map_of_alm(Run& run, const LensOptions& options, const std::string& alm) {
  announce(run, options, OutputContent::map);
  AlmSource source =
      open_source(run, {alm, options.cl, options.cl_kind, options.transform.fields, options.unit});
  const std::string& path = alm.empty() ? options.cl : alm;
  if (source.spectra && !source.spectra->has(Spectra::PP)) {
    throw DataError(path,
                    "has no spectrum PP of the lensing potential; expected `l TT EE BB TE PP TP "
                    "EP`, with a header line that names the columns");
  }
  const auto grid = named_grid(options.transform);
  const PointDegrees usual = source.alm == nullptr
                                 ? PointDegrees{grid->default_lmax()}
                                 : PointDegrees{source.lmax, source.alm->header().mmax};
  LensJob job{options,
              grid,
              source.choice,
              spec_at_pixels(run, options, *grid, source.choice.fields, usual),
              storage_precision(options.transform.precision, source.precision),
              source.unit,
              provenance_of(run, path, source.origin)};
  job.coordsys = source.coordsys;
  job.provenance.spectrum_kind = source.kind;
  job.provenance.lmax = job.spec.lmax;
  require_map_files(options, *grid);
  check_lensed_lmax(run, job);
  warn_of_short_spectrum(run, path, source, job.spec.lmax);
  const PotentialSource potential = open_potential(run, job);
  require_memory_for_fields(run, job, potential.lmax);
  std::optional<PlannedLensing> planned = plan_job(run, job, source, potential);
  if (!planned) return 0;
  with_storage(job.precision,
               [&](auto storage) { lens_source<decltype(storage)>(run, job, source, *planned); });
  conclude(run, job);
  return 0;
}

/// Analyses the map and leaves its a_lm where the transform of the job has them. Collective.
template <class T>
void delens_map(Run& run, LensJob& job, SkyAnalysis& analysis, const std::vector<Sky>& skies,
                PlannedLensing& planned) {
  auto [results, fraction] = analyse_all<T>(run, analysis, skies);
  put_analysis(analysis, fraction, results.front().report.iterations, job.provenance);
  const AlmLayout layout = analysis.transform->alm_layout();
  analysis.transform.reset();
  auto alm = agreed(run.comm, [&] { return planned.lensing.make_alm<T>(); });
  move_orders<T>(run.comm, layout, std::as_const(results.front().alm).view(),
                 planned.lensing.alm_layout(), alm.view());
  results.clear();
  write_lensed<T>(run, job, planned.deflection, planned.lensing, std::as_const(alm).view());
}

/// A map that is moved back. Collective.
int map_of_map(Run& run, const LensOptions& options, std::unique_ptr<MapReader> reader) {
  announce(run, options, OutputContent::map);
  std::vector<Sky> skies;
  skies.push_back(sky_of(run, options.moved(), std::move(reader), options.transform.fields));
  const Sky& sky = skies.front();
  const MapHeader& header = sky.reader->header();
  SkyAnalysis analysis = plan_analysis(run, analysis_options(options), options.transform, skies);
  const TransformSpec& of_map = analysis.transform->spec();
  const bool is_named = options.transform.nside > 0 || !options.transform.grid.empty();
  const auto grid = is_named ? named_grid(options.transform) : header.grid;
  LensJob job{
      options,
      grid,
      sky.choice,
      make_point_spec(
          run, {options.transform, options.epsilon, sky.choice.fields, {of_map.lmax, of_map.mmax}}),
      analysis.precision,
      sky.unit(),
      provenance_of(run, sky.path, header.origin)};
  // As the report says of the analysis, but for `auto`.
  if (options.transform.backend == "cuda") job.spec.backend = Backend::cuda;
  job.coordsys = header.coordsys;
  job.provenance.lmax = job.spec.lmax;
  require_map_files(options, *grid);
  const PotentialSource potential = open_potential(run, job);
  require_memory_for_fields(run, job, potential.lmax);
  const MemoryEstimate of_analysis = estimate_memory(*analysis.transform, analysis.use);
  record_plan(run, *analysis.transform, of_analysis, analysis.of_one);
  std::vector<MemoryItem> during(of_analysis.items.begin() + 1, of_analysis.items.end());
  for (MemoryItem& item : during) item.name += " of the analysis";
  std::optional<PlannedLensing> planned = plan_job(run, job, {}, potential, during);
  if (!planned) return 0;
  with_storage(job.precision, [&](auto storage) {
    delens_map<decltype(storage)>(run, job, analysis, skies, *planned);
  });
  conclude(run, job);
  return 0;
}

/// Multiplies the pixels as --weights and --magnification ask. Collective.
template <class T>
void weigh(Run& run, const LensOptions& options, const Deflection& deflection, MapView<T> map) {
  const StageTimer timer(&run.times, "deflection");
  const LocalRings& rings = deflection.rings();
  const auto multiply_pixels = [&](std::int64_t first, std::int64_t n, const auto& factor) {
    for (std::int64_t c = 0; c < map.n_components(); ++c) {
      const View<T> pixels = map.component(c);
      for (std::int64_t i = first; i < first + n; ++i)
        pixels[i] = static_cast<T>(pixels[i] * factor(i));
    }
  };
  if (options.weights == "quadrature") {
    for (std::int64_t r = 0; r < rings.n_rings(); ++r) {
      const Ring& ring = rings.ring(LocalRing{r});
      multiply_pixels(rings.first_pixel(LocalRing{r}), ring.n_phi,
                      [&](std::int64_t) { return ring.weight; });
    }
  }
  if (!options.magnification) return;
  auto area = agreed(run.comm, [&] { return MapBuffer<double>(1, rings.n_pixels()); });
  const View<double> values = area.view().component(0);
  deflection.magnification(values);
  multiply_pixels(0, rings.n_pixels(), [&](std::int64_t i) { return values[i]; });
}

template <class T>
void adjoint_of(Run& run, const LensJob& job, MapReader& reader, PlannedLensing& planned) {
  const std::string& path = job.provenance.input;
  const LocalRings& rings = planned.deflection.rings();
  run.progress.stage("reading " + path);
  auto map = agreed(run.comm, [&] { return planned.lensing.make_map<T>(); });
  FileTraffic traffic{run.comm};
  read_map<T>(traffic, path, reader, job.choice, rings, map.view());
  add_traffic(run, traffic);
  const std::vector<std::int64_t> n_unseen = with_path(path, [&] {
    return MaskedMap(run.comm, rings, {.unseen = UnseenPolicy::zero}, map.view()).unseen_pixels();
  });
  const std::string unseen =
      unseen_text(n_unseen, names_of_fields(job.choice, reader.header()), false);
  if (!unseen.empty()) run.print_line(unseen + " taken as zero");
  weigh<T>(run, job.options, planned.deflection, map.view());
  auto alm = agreed(run.comm, [&] { return planned.lensing.make_alm<T>(); });
  run.progress.stage("adjoint lensing");
  planned.lensing.adjoint(map, alm);
  map.release();
  record_point_transform(run, planned.lensing.transform().points().report(),
                         planned.lensing.times());
  write_lens_alm(run, job, job.options.output(), job.choice.components, job.unit,
                 planned.lensing.alm_layout(), std::as_const(alm).view());
}

/// The a_lm of the adjoint of lensing. Collective.
int alm_of_map(Run& run, const LensOptions& options) {
  announce(run, options, OutputContent::alm);
  const Sky sky =
      sky_of(run, options.adjoint, open_map(run.comm, options.adjoint), options.transform.fields);
  const MapHeader& header = sky.reader->header();
  const auto grid = header.grid;
  if (options.weights == "quadrature") require_weights(sky.path, *grid);
  LensJob job{options,
              grid,
              sky.choice,
              spec_at_pixels(run, options, *grid, sky.choice.fields, {options.transform.lmax}),
              storage_precision(options.transform.precision, header.precision),
              sky.unit(),
              provenance_of(run, sky.path, header.origin)};
  job.coordsys = header.coordsys;
  job.provenance.lmax = job.spec.lmax;
  if (!options.deflection.empty()) require_map_file(options.deflection, *grid);
  const PotentialSource potential = open_potential(run, job);
  require_memory_for_fields(run, job, potential.lmax);
  std::optional<PlannedLensing> planned = plan_job(run, job, {}, potential);
  if (!planned) return 0;
  with_storage(job.precision, [&](auto storage) {
    adjoint_of<decltype(storage)>(run, job, *sky.reader, *planned);
  });
  run.conclusion =
      fmt::format("{}: adjoint lensing of {}, lmax {}", options.output(), sky.path, job.spec.lmax);
  return 0;
}

}  // namespace

int lens(Run& run, const LensOptions& options) {
  check_lens_options(options);
  run.outputs.keep(options.adjoint);
  run.outputs.keep(options.moved());
  if (!options.adjoint.empty()) return alm_of_map(run, options);
  if (options.moved().empty()) return map_of_alm(run, options, options.alm);
  const std::string path = options.moved();
  Content content = open_content(run.comm, path, SpectrumKind::stated_or_c_l);
  if (content.map != nullptr) return map_of_map(run, options, std::move(content.map));
  if (content.alm != nullptr && options.n_iter) {
    throw UsageError(
        fmt::format("--iter: {} holds a_lm, of which there is no analysis; leave it out", path));
  }
  if (content.alm != nullptr) return map_of_alm(run, options, path);
  throw DataError(path, "holds neither a map nor a_lm; expected a lensed map or its a_lm");
}

}  // namespace ringweave::detail::inline app
