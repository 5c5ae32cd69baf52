// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/smooth/smooth_maps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>

#include "app/analysis_checks.hpp"
#include "app/healpix_data.hpp"
#include "app/map_batch.hpp"
#include "app/report/plan_table.hpp"
#include "app/sky_mask.hpp"
#include "app/smooth/smooth_beam.hpp"
#include "app/table_input.hpp"
#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "io/field_files.hpp"
#include "ringweave/error.hpp"
#include "ringweave/files.hpp"

namespace ringweave::detail::inline app {
namespace {

const char* name_of(Ordering ordering) { return ordering == Ordering::ring ? "RING" : "NESTED"; }
const char* name_of(SkyCoverage sky) { return sky == SkyCoverage::full ? "full" : "partial"; }
const char* name_of(Precision of) { return of == Precision::single_ ? "single" : "double"; }

std::string names_of(const std::vector<MapColumn>& columns) {
  std::string names;
  for (const MapColumn& column : columns) names += (names.empty() ? "" : " ") + column.name;
  return names;
}

/// Names the difference of a map from the first one; empty if there is none.
std::string difference(const MapHeader& map, const MapHeader& first) {
  const auto unless_same = [](const std::string& what, const std::string& one,
                              const std::string& other) {
    return one == other ? std::string() : fmt::format("{} {} instead of {}", what, one, other);
  };
  if (map.grid->name() != first.grid->name() || !has_same_rings(*map.grid, *first.grid))
    return fmt::format("its grid is {} instead of {}", map.grid->name(), first.grid->name());
  for (const std::string& text :
       {unless_same("its order is", name_of(map.ordering), name_of(first.ordering)),
        unless_same("its sky is", name_of(map.coverage), name_of(first.coverage)),
        unless_same("its precision is", name_of(map.precision), name_of(first.precision)),
        unless_same("its columns are", names_of(map.columns), names_of(first.columns))}) {
    if (!text.empty()) return text;
  }
  return "";
}

void require_alike(const std::string& path, const MapHeader& map, const std::string& first_path,
                   const MapHeader& first) {
  const std::string what = difference(map, first);
  if (what.empty()) return;
  throw DataError(path, fmt::format("{}, which {} has; maps of one launch must be alike: smooth it "
                                    "by itself, or --resume with a list that leaves it out",
                                    what, first_path));
}

/// The rings a transform has to visit are those of every map, or maps would not come out as alone.
void require_same_rings(const std::string& path, MapReader& reader, const SmoothJob& job) {
  if (!job.grid->is_subset()) return;
  const std::vector<RingId> observed = reader.observed_rings();
  const MapHeader& header = reader.header();
  if (has_same_rings(header.grid->subset(observed), *job.grid)) return;
  throw DataError(path, fmt::format("observes other rings than {}; maps of one launch must be "
                                    "alike: smooth it by itself",
                                    job.maps.to_do.front().input));
}

/// The order of an input, where the grid has it.
Ordering ordering_on(const RingGrid& grid, Ordering of_input) {
  const auto nside = static_cast<std::uint64_t>(grid.nside());
  return std::has_single_bit(nside) ? of_input : Ordering::ring;
}

/// Treatment; the rest is the caller's.
Provenance provenance_of(const Run& run, const SmoothJob& job) {
  const SmoothOptions& options = job.options;
  Provenance provenance = run.provenance();
  provenance.quadrature = options.analysis.weights;
  provenance.removed = options.analysis.remove;
  put_mask(options.analysis, job.sky_fraction, provenance);
  return provenance;
}

/// Reports how many pixels of map number `map` of the job were UNSEEN and what was removed.
void tell_treatment(Run& run, const SmoothJob& job, std::int64_t map,
                    const TreatmentReport& treatment) {
  const AnalysisOptions& options = job.options.analysis;
  const std::vector<std::string> fields = names_of_fields(job.choice, job.header);
  nlohmann::ordered_json& total = run.report["unseen_pixels"];
  for (std::size_t i = 0; i < fields.size(); ++i) {
    nlohmann::ordered_json& of_field = total[fields[i]];
    of_field = treatment.unseen_pixels[i] + (of_field.is_null() ? 0 : of_field.get<std::int64_t>());
  }
  const std::string name = job.maps.is_single() ? "" : job.maps.to_do[to_size(map)].input + ": ";
  const std::string unseen = unseen_text(treatment.unseen_pixels, fields, !options.mask.empty());
  if (!unseen.empty()) run.print_line(fmt::format("{}{}: {}", name, unseen, options.unseen));
  if (job.smoothing.remove == Remove::none) return;
  const LowMultipoles& removed = treatment.removed;
  run.print_line(fmt::format("{}removed monopole {:.6g}, dipole ({:.6g}, {:.6g}, {:.6g}){}", name,
                             removed.monopole, removed.dipole[0], removed.dipole[1],
                             removed.dipole[2], options.put_back ? ", put back" : ""));
}

/// Returns the kernel as the user gave it: a width or a file.
std::string kernel_name(const SmoothOptions& options) {
  const std::string name = options.fwhm + options.beam + options.kernel;
  return name.empty() ? "no kernel" : name;
}

/// Reads the maps of a group into new memory.
template <class T>
void read_group(Run& run, const SmoothJob& job, const LocalRings& rings, FileTraffic& traffic,
                MapGroup<T>& group) {
  const std::int64_t n = job.choice.fields.n_components();
  try {
    group.map =
        agreed(traffic.comm, [&] { return MapBuffer<T>(group.range.count * n, rings.n_pixels()); });
    for (std::int64_t i = 0; i < group.range.count; ++i) {
      const std::string& path = job.maps.to_do[to_size(group.range.first + i)].input;
      if (job.maps.n() == 1) run.progress.stage("reading " + path);
      const auto opened =
          job.reader == nullptr ? open_map(traffic.comm, path, job.options.variable) : nullptr;
      MapReader& reader = opened != nullptr ? *opened : *job.reader;
      require_alike(path, reader.header(), job.maps.to_do.front().input, job.header);
      read_map<T>(traffic, path, reader, job.choice, rings, group.map.view().components(i * n, n));
      group.headers.push_back(reader.header());
    }
  } catch (const DataError&) {
    // On all ranks. The maps before it are worth going on with.
    group.failure = std::current_exception();
    group.range.count = ssize64(group.headers);
  }
}

template <class T>
void write_group(Run& run, const SmoothJob& job, const LocalRings& rings, FileTraffic& traffic,
                 MapGroup<T>& group) {
  const std::int64_t n = job.choice.fields.n_components();
  for (std::int64_t i = 0; i < group.range.count; ++i) {
    const MapTask& task = job.maps.to_do[to_size(group.range.first + i)];
    if (job.maps.n() == 1) run.progress.stage("writing " + task.output);
    const StageTimer timer(&traffic.times, "write");
    const MapHeader& input = group.headers[to_size(i)];
    MapHeader header = input;
    if (job.new_grid != nullptr) {
      header.grid = job.new_grid;
      header.coverage = SkyCoverage::full;
      header.listed_pixels = 0;
      header.ordering = ordering_on(*job.new_grid, input.ordering);
    }
    header.precision = sizeof(T) == 4 ? Precision::single_ : Precision::double_;
    header.columns.clear();
    for (const int column : job.choice.columns)
      header.columns.push_back(input.columns[to_size(std::int64_t{column})]);
    Provenance provenance = group.provenance;
    provenance.input = task.input;
    provenance.origin = input.origin;
    put_beam(job.options, provenance);
    MapOutputs outputs(run, job.maps, traffic);
    write_map(outputs.begin(task.output), header, provenance, rings,
              MapView<const T>(group.map.view().components(i * n, n)));
    outputs.commit(traffic);
  }
}

template <class T>
MapsDone smooth_groups(Run& run, const SmoothJob& job, SmoothingMethod& method,
                       const std::vector<MapRange>& groups) {
  const LocalRings rings = method.rings();
  const LocalRings new_rings = method.new_rings();
  MapRun map_run(run, job.maps, groups);
  MapSteps<T> steps;
  steps.read = [&](auto& traffic, auto& group) { read_group(run, job, rings, traffic, group); };
  steps.write = [&](auto& traffic, auto& group) {
    write_group(run, job, new_rings, traffic, group);
  };
  steps.compute = [&](MapGroup<T>& group) {
    group.provenance = provenance_of(run, job);
    group.provenance.method = method.name();
    const SmoothingReport report = method.smooth(&group);
    // The last outputs need its memory.
    if (map_run.is_last(group.range)) method.release();
    for (std::int64_t i = 0; i < group.range.count; ++i)
      tell_treatment(run, job, group.range.first + i, report.maps[to_size(i)]);
  };
  const MapsDone done = run_maps(map_run, steps);
  method.release();
  method.record();
  return done;
}

}  // namespace

MapList list_smoothings(Run& run, const SmoothOptions& options) {
  if (options.list.empty() && options.files.size() < 2) {
    throw UsageError(
        "give the map to smooth and the smoothed map: ringweave smooth MAP OUT; with several maps, "
        "or --maps FILE, OUT comes last and holds {name}");
  }
  if (!options.list.empty() && options.files.size() > 1) {
    throw UsageError(
        fmt::format("--maps {} names the maps to smooth; give only the output in addition, not {}",
                    options.list, options.files.front()));
  }
  const std::string& output = options.files.back();
  std::vector<std::string> inputs(options.files.begin(), options.files.end() - 1);
  if (!options.list.empty()) {
    run.outputs.keep(options.list);
    inputs = read_names(run.comm, options.list);
  }
  require_place(output, "{name}", "the output", ssize64(inputs));
  std::vector<MapTask> tasks;
  for (const std::string& input : inputs)
    tasks.push_back({.input = input, .output = with_name(output, input)});
  return list_maps(run, tasks, options.maps);
}

void open_inputs(Run& run, SmoothJob& job) {
  const std::string& first = job.maps.to_do.front().input;
  job.reader = open_map(run.comm, first, job.options.variable);
  job.header = job.reader->header();
  require_weights(first, *job.header.grid);
  SmoothOptions& options = job.options;
  options.pixel_window = window_file(run, "--pixel-window", options.pixel_window,
                                     job.new_grid != nullptr ? *job.new_grid : *job.header.grid);
  options.from_pixel_window =
      window_file(run, "--from-pixel-window", options.from_pixel_window, *job.header.grid);
  const auto say_what_is_odd = [&](const std::string& path, const MapHeader& header) {
    for (const std::string& warning : header.warnings) run.warn(path + ": " + warning);
    warn_of_second_window(run, job.options, path, header.origin);
    warn_of_other_beam(run, job.options, path, header.origin);
  };
  say_what_is_odd(first, job.header);
  job.choice = choose_fields(first, job.header, job.options.transform.fields);
  note_columns_left_out(run, first, job.header, job.choice);
  const int lmax = job.options.transform.lmax;
  if (!job.options.analysis.n_iter &&
      is_exact(*job.header.grid, lmax >= 0 ? lmax : job.header.grid->default_lmax()))
    job.smoothing.n_iter = 0;
  const bool whole_sky = job.smoothing.n_iter > 0 || job.smoothing.tolerance > 0 ||
                         job.is_normalized() || !job.options.analysis.mask.empty();
  job.grid = grid_to_visit(*job.reader, whole_sky || job.new_grid != nullptr);
  check_mask(run, job.options.analysis, job.header);
  if (job.maps.n() == 1) return;
  job.reader.reset();
  for (std::size_t i = 1; i < job.maps.to_do.size(); ++i) {
    const std::string& path = job.maps.to_do[i].input;
    const auto reader = open_map(run.comm, path, job.options.variable);
    require_alike(path, reader->header(), first, job.header);
    require_same_rings(path, *reader, job);
    say_what_is_odd(path, reader->header());
  }
}

int smooth_maps(Run& run, SmoothJob& job, SmoothingMethod& method) {
  const std::vector<MapRange> groups = method.plan();
  MemoryEstimate estimate =
      with_others(method.memory(), groups,
                  std::max(map_bytes(job.choice.fields, method.rings(), job.precision),
                           map_bytes(job.choice.fields, method.new_rings(), job.precision)));
  tell_groups(run, job.maps, groups);
  method.report_plan(estimate);
  nlohmann::ordered_json& plan = run.report["plan"];
  plan["method"] = method.name();
  if (!job.why_method.empty()) plan["why_method"] = job.why_method;
  const auto bytes_on = [&](const RingGrid& grid) {
    return static_cast<double>(job.choice.fields.n_components() * grid.n_pixels() *
                               bytes_of(job.precision));
  };
  record_files(run, {job.maps.n(), bytes_on(*job.grid), job.maps.n(),
                     bytes_on(job.new_grid != nullptr ? *job.new_grid : *job.grid)});
  run.outputs.require_writable();
  require_memory(run.comm, estimate);
  if (!job.why_method.empty()) run.print_line("method: " + job.why_method);
  warn_beyond_grid(run, job.maps.to_do.front().input, *job.header.grid, job.options.transform.lmax);
  if (!has_beam_before(job.options)) note_where_nothing_is_smoothed(run, job.options.fwhm);
  if (run.options.dry_run) return 0;

  method.prepare();
  const SkyMask mask = read_mask(run, job.options.analysis, method.rings());
  job.smoothing.mask = mask.values;
  job.sky_fraction = mask.fraction;
  const MapsDone done = with_storage(job.precision, [&](auto storage) {
    return smooth_groups<decltype(storage)>(run, job, method, groups);
  });
  if (done.stopped) return exit_code(ErrorKind::stopped);
  const SmoothOptions& options = job.options;
  run.conclusion = fmt::format(
      "{}: {} smoothed with {}, {}",
      job.maps.is_single() ? job.maps.to_do.front().output : fmt::format("{} maps", done.done),
      job.choice.name, kernel_name(options), method.summary());
  return 0;
}

}  // namespace ringweave::detail::inline app
