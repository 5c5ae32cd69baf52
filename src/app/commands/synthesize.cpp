// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <utility>

#include "app/alm_source.hpp"
#include "app/backend_choice.hpp"
#include "app/cli/angle.hpp"
#include "app/commands/commands.hpp"
#include "app/healpix_data.hpp"
#include "app/map_batch.hpp"
#include "app/maps/map_list.hpp"
#include "app/maps/map_run.hpp"
#include "app/noise.hpp"
#include "app/predict/memory_estimate.hpp"
#include "app/report/plan_table.hpp"
#include "app/report/transform_report.hpp"
#include "app/table_input.hpp"
#include "app/transform_setup.hpp"
#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "io/field_files.hpp"
#include "ringweave/error.hpp"
#include "ringweave/files.hpp"
#include "ringweave/spectra.hpp"
#include "ringweave/transform.hpp"

namespace ringweave::detail::inline app {
namespace {

bool is_random(const SynthesizeOptions& options) {
  return !options.cl.empty() || !options.noise.empty();
}

/// Returns the seeds of the realisations; for a_lm from a file a single number without meaning.
/// Collective.
std::vector<std::uint64_t> seeds_of(const Communicator& comm, const SynthesizeOptions& options) {
  if (!is_random(options)) {
    if (options.seeds.empty()) return {0};
    throw UsageError("--seed belongs to --cl and --noise; a_lm from a file are not random");
  }
  if (!options.seeds.empty()) {
    const std::vector<std::uint64_t> seeds = parse_seeds(options.seeds);
    if (seeds.size() == 1 || !options.cl.empty()) return seeds;
    throw UsageError(
        "--seed: a_lm from a file make one map; with --alm give one seed, of its noise");
  }
  return {fresh_seed(comm)};
}

/// Prints a seed that was chosen here, which the user needs for the same map again.
void say_fresh_seed(Run& run, const SynthesizeOptions& options, std::uint64_t seed) {
  if (!is_random(options) || !options.seeds.empty()) return;
  run.print_line(fmt::format("{} {}", options.cl.empty() ? "seed of the noise" : "seed", seed));
}

std::shared_ptr<const RingGrid> output_grid(const SynthesizeOptions& options) {
  auto grid = named_grid(options.transform);
  if (options.latitudes.empty()) return grid;
  const AngleRange band = parse_angle_range(options.latitudes, "--latitudes");
  std::vector<RingId> kept;
  for (std::int64_t r = 0; r < grid->n_rings(); ++r) {
    const double latitude = std::numbers::pi / 2 - grid->ring(RingId{r}).theta;
    if (latitude >= band.low && latitude <= band.high) kept.push_back(RingId{r});
  }
  if (kept.empty())
    throw UsageError("--latitudes " + options.latitudes + ": no ring of the grid lies there");
  return std::make_shared<RingGrid>(grid->subset(kept));
}

std::optional<Beam> output_beam(Run& run, const SynthesizeOptions& options, const RingGrid& grid,
                                int lmax) {
  std::optional<Beam> beam;
  const auto add = [&](const Beam& other) { beam = beam ? *beam * other : other; };
  if (!options.fwhm.empty()) add(gaussian_beam(parse_width(options.fwhm, "--fwhm"), lmax));
  if (!options.beam.empty()) add(beam_of_file(run, options.beam, lmax, "--pixel-window"));
  if (!options.pixel_window.empty())
    add(read_pixel_window(run.comm, options.pixel_window, grid.nside()));
  return beam;
}

/// Input, output and settings of all syntheses.
struct SynthesisJob {
  const SynthesizeOptions& options;
  AlmSource source;
  MapList maps;
  std::shared_ptr<const RingGrid> full_grid;  ///< that the rings to write belong to
  GroupTransform transform;
  MemoryUse use;
  std::optional<Beam> beam{};
  std::vector<MapRange> groups{};
  PixelNoise noise{};

  const TransformSpec& spec() const { return transform.of_one(); }  ///< of one map
};

MapList list_syntheses(Run& run, const SynthesizeOptions& options,
                       const std::vector<std::uint64_t>& seeds) {
  require_place(options.output, "{seed}", "the output", ssize64(seeds));
  require_place(options.save_alm, "{seed}", "--save-alm", ssize64(seeds));
  std::vector<MapTask> tasks;
  for (const std::uint64_t seed : seeds) {
    tasks.push_back({.seed = seed,
                     .output = with_seed(options.output, seed),
                     .alm = with_seed(options.save_alm, seed)});
  }
  return list_maps(run, tasks, options.maps);
}

Provenance provenance_of(const Run& run, const SynthesisJob& job) {
  const SynthesizeOptions& options = job.options;
  Provenance provenance = run.provenance(job.source.spectra ? options.cl : options.alm);
  provenance.origin = job.source.origin;
  provenance.lmax = job.spec().lmax;
  if (!options.fwhm.empty()) provenance.fwhm_degrees = parse_degrees(options.fwhm, "--fwhm");
  if (!options.beam.empty()) provenance.beam = options.beam;
  if (!options.pixel_window.empty()) provenance.pixel_window = options.pixel_window;
  provenance.spectrum_kind = job.source.kind;
  return provenance;
}

/// All maps of a job.
template <class T>
class SynthesisRun {
 public:
  SynthesisRun(Run& run, SynthesisJob& job)
      : run_(run),
        job_(job),
        n_components_(job.transform.n_components()),
        rings_(job.transform->rings()),
        layout_(job.transform->alm_layout()),
        map_run_(run, job.maps, job.groups) {}

  MapsDone synthesize() {
    const MapSteps<T> steps{[](FileTraffic&, Group&) {}, [this](Group& group) { compute(group); },
                            [this](FileTraffic& traffic, Group& group) { write(traffic, group); }};
    const MapsDone done = run_maps(map_run_, steps);
    job_.transform.record();
    return done;
  }

 private:
  using Group = MapGroup<T>;

  const MapTask& task(const Group& group, std::int64_t i) const {
    return job_.maps.to_do[to_size(group.range.first + i)];
  }

  /// The group's provenance with the seed of the a_lm, if they are drawn.
  Provenance of_alm(const Group& group, std::int64_t i) const {
    Provenance provenance = group.provenance;
    if (!job_.options.cl.empty()) provenance.seed = task(group, i).seed;
    return provenance;
  }

  /// The same, with the seed of the noise.
  Provenance of_map(const Group& group, std::int64_t i) const {
    Provenance provenance = of_alm(group, i);
    if (!job_.options.noise.empty()) provenance.noise_seed = task(group, i).seed;
    return provenance;
  }

  void compute(Group& group) {
    job_.transform.plan_for(group.range.count, job_.use);
    SphericalHarmonicTransform& transform = *job_.transform;
    auto alm = agreed(run_.comm, [&] { return transform.make_alm<T>(); });
    for (std::int64_t i = 0; i < group.range.count; ++i) {
      find_alm(task(group, i), alm.view().components(i * n_components_, n_components_));
    }
    scale<T>(alm.view(), job_.source.factor);
    if (job_.beam) multiply(*job_.beam, layout_, transform.fields(), alm.view());
    group.provenance = provenance_of(run_, job_);
    if (!job_.options.save_alm.empty()) {
      // Before the memory of the a_lm becomes that of the maps.
      const AlmBuffer<T>& kept = alm;
      FileQueue& files = map_run_.files();
      files.wait(files.add([&](FileTraffic& traffic) { write_alms(traffic, group, kept.view()); }));
    }
    if (job_.maps.is_single()) run_.progress.stage("synthesis");
    group.map = transform.synthesize<T>(std::move(alm));
    job_.transform.count({.all_fields = 1});
    for (std::int64_t i = 0; i < group.range.count; ++i)
      add_noise<T>(job_.noise, task(group, i).seed, rings_,
                   group.map.view().components(i * n_components_, n_components_));
    if (map_run_.is_last(group.range)) transform.release_workspace();
  }

  /// Reads a_lm, only for a single map, or draws them.
  void find_alm(const MapTask& task, AlmView<T> alm) {
    AlmSource& source = job_.source;
    if (source.alm == nullptr) {
      const StageTimer timer(&run_.times, "draw");
      return with_path(job_.options.cl, [&] {
        agree(run_.comm, [&] { draw_alm(*source.spectra, task.seed, layout_, alm); });
      });
    }
    const std::string& path = job_.options.alm;
    run_.progress.stage("reading " + path);
    FileTraffic traffic{run_.comm};
    read_alm<T>(traffic, path, *source.alm, source.choice, layout_, alm);
    add_traffic(run_, traffic);
    source.alm.reset();
  }

  MapOutputs& outputs_of(FileTraffic& traffic, Group& group, std::int64_t i) const {
    std::vector<MapOutputs>& outputs = group.outputs;
    while (ssize64(outputs) <= i) outputs.emplace_back(run_, job_.maps, traffic);
    return outputs[to_size(i)];
  }

  void write_alms(FileTraffic& traffic, Group& group, AlmView<const T> alm) const {
    const AlmHeader header{layout_.lmax(),
                           layout_.mmax(),
                           job_.source.choice.components,
                           sizeof(T) == 4 ? Precision::single_ : Precision::double_,
                           job_.source.unit,
                           {},
                           {},
                           job_.source.coordsys};
    for (std::int64_t i = 0; i < group.range.count; ++i) {
      const std::string& path = task(group, i).alm;
      if (job_.maps.is_single()) run_.progress.stage("writing " + path);
      const StageTimer timer(&traffic.times, "write");
      write_alm(outputs_of(traffic, group, i).begin(path), header, of_alm(group, i), layout_,
                alm.components(i * n_components_, n_components_));
    }
  }

  void write(FileTraffic& traffic, Group& group) const {
    MapHeader header;
    header.grid = job_.full_grid;
    header.ordering = job_.options.order == "nested" ? Ordering::nested : Ordering::ring;
    header.coverage = job_.spec().grid->is_subset() ? SkyCoverage::partial : SkyCoverage::full;
    header.precision = sizeof(T) == 4 ? Precision::single_ : Precision::double_;
    header.columns = standard_columns(job_.source.choice, job_.source.unit);
    header.coordsys = job_.source.coordsys;
    const MapView<const T> maps = std::as_const(group.map).view();
    for (std::int64_t i = 0; i < group.range.count; ++i) {
      const std::string& path = task(group, i).output;
      if (job_.maps.is_single()) run_.progress.stage("writing " + path);
      const StageTimer timer(&traffic.times, "write");
      MapOutputs& outputs = outputs_of(traffic, group, i);
      write_map(outputs.begin(path), header, of_map(group, i), rings_,
                maps.components(i * n_components_, n_components_));
      outputs.commit(traffic);
    }
  }

  Run& run_;
  SynthesisJob& job_;
  std::int64_t n_components_;  ///< of one map
  LocalRings rings_;           ///< of every transform, as is the layout
  AlmLayout layout_;
  MapRun map_run_;
};

void conclude(Run& run, const SynthesisJob& job, const MapsDone& done) {
  const std::string text = fmt::format("{} on {}, lmax {}", job.source.choice.name,
                                       job.spec().grid->name(), job.spec().lmax);
  run.conclusion = job.maps.is_single() ? fmt::format("{}: {}", job.maps.to_do.front().output, text)
                                        : fmt::format("{} maps: {}", done.done, text);
}

}  // namespace

int synthesize(Run& run, const SynthesizeOptions& asked) {
  SynthesizeOptions options = asked;
  if (options.cl.empty() == options.alm.empty()) {
    throw UsageError("give one input: either --cl FILE (with --seed N) or --alm FILE");
  }
  MapList maps = list_syntheses(run, options, seeds_of(run.comm, options));
  if (maps.to_do.empty()) {
    report_nothing_to_do(run, maps);
    return 0;
  }
  if (maps.is_single() && is_random(options))
    run.report[options.cl.empty() ? "noise_seed" : "seed"] = maps.to_do.front().seed;
  AlmSource source = open_source(
      run, {options.alm, options.cl, options.cl_kind, options.transform.fields, options.unit});
  const auto grid = output_grid(options);
  options.pixel_window = window_file(run, "--pixel-window", options.pixel_window, *grid);
  TransformSpec spec =
      make_spec(options.transform, grid, source.choice.fields, source.lmax, source.mmax);
  choose_backend(run, options.transform, spec);
  const Precision precision = storage_precision(options.transform.precision, source.precision);
  warn_of_short_spectrum(run, options.cl, source, spec.lmax);
  require_memory_for(run.comm, spec, precision);
  SynthesisJob job{
      options,
      std::move(source),
      std::move(maps),
      grid->is_subset() ? named_grid(options.transform) : grid,
      GroupTransform(run, spec, options.transform.asked_backend()),
      {.precision = precision, .extra_buffers = noise_beside(options, spec.fields.n_components())}};
  job.beam = output_beam(run, options, *grid, spec.lmax);
  note_where_nothing_is_smoothed(run, options.fwhm);
  check_noise(run, options, *job.full_grid, job.source.choice);
  require_map_file(job.maps.to_do.front().output, *job.full_grid);
  job.groups = job.transform.choose_groups(job.maps, options.maps, job.use);
  job.transform.plan_for(job.groups.front().count, job.use);
  MemoryEstimate estimate = with_others(estimate_memory(*job.transform, job.use), job.groups,
                                        map_bytes(spec.fields, job.transform->rings(), precision));
  if (options.transform.fields.empty()) run.detail("fields " + job.source.choice.name);
  tell_groups(run, job.maps, job.groups);
  record_plan(run, *job.transform, estimate,
              {checked_cast<int>(ssize64(job.groups), "groups of maps")});
  record_files(run,
               {.n_written = job.maps.n(),
                .written_bytes = static_cast<double>(job.source.choice.fields.n_components() *
                                                     spec.grid->n_pixels() * bytes_of(precision))});
  run.outputs.require_writable();
  require_memory(run.comm, estimate);
  if (run.options.dry_run) return 0;

  job.noise = read_noise(run, options, job.transform->rings(), job.source.choice, job.source.unit);
  say_fresh_seed(run, options, job.maps.to_do.front().seed);
  const MapsDone done = with_storage(precision, [&](auto storage) {
    return SynthesisRun<decltype(storage)>(run, job).synthesize();
  });
  if (done.stopped) return exit_code(ErrorKind::stopped);
  conclude(run, job, done);
  return 0;
}

}  // namespace ringweave::detail::inline app
