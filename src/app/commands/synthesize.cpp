// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <numbers>
#include <random>

#include "app/angle.hpp"
#include "app/backend_choice.hpp"
#include "app/commands/commands.hpp"
#include "app/memory_estimate.hpp"
#include "app/transform_report.hpp"
#include "app/transform_setup.hpp"
#include "base/error.hpp"
#include "distribute/agree.hpp"
#include "io/alm_file.hpp"
#include "io/table_file.hpp"
#include "sphere/random_alm.hpp"

namespace ringweave {
namespace {

/// What the a_lm come from: a file, or a spectrum and a seed.
struct Source {
  std::unique_ptr<AlmReader> alm;
  std::optional<Spectra> spectra;
  std::uint64_t seed = 0;
  FieldChoice choice;
  int lmax = -1;  ///< of the file
  Precision precision = Precision::double_;
  std::string unit;
};

std::uint64_t fresh_seed(const Communicator& comm) {
  std::random_device device;
  std::uint64_t seed = (std::uint64_t{device()} << 32) ^ device();
  comm.broadcast(&seed, sizeof seed, 0);
  return seed;
}

Source open_source(Run& run, const SynthesizeOptions& options) {
  if (options.cl.empty() == options.alm.empty()) {
    throw UsageError("give what to synthesize: either --cl FILE (with --seed N) or --alm FILE");
  }
  const std::string& fields = options.transform.fields;
  Source source;
  source.unit = options.unit;
  if (!options.cl.empty()) {
    source.spectra = read_spectra(run.comm, options.cl);
    source.seed = options.seed ? *options.seed : fresh_seed(run.comm);
    if (!options.seed) run.say(fmt::format("seed {}", source.seed));
    source.choice = fields_named(!fields.empty()                  ? fields
                                 : source.spectra->is_polarised() ? "TQU"
                                                                  : "T");
    return source;
  }
  if (options.seed) throw UsageError("--seed belongs to --cl; a_lm from a file are not random");
  source.alm = open_alm(run.comm, options.alm);
  const AlmHeader& header = source.alm->header();
  const auto n = header.components.size();
  source.choice = fields_named(!fields.empty() ? fields : n >= 3 ? "TQU" : n == 2 ? "QU" : "T");
  if (source.choice.name == "QU" && n >= 3) source.choice.columns = {1, 2};
  if (n < source.choice.columns.size()) {
    throw DataError(options.alm, fmt::format("holds {} component(s), --fields {} needs {}", n,
                                             source.choice.name, source.choice.columns.size()));
  }
  source.lmax = header.lmax;
  source.precision = header.precision;
  if (source.unit.empty()) source.unit = header.unit;
  return source;
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

std::optional<Beam> output_beam(Run& run, const SynthesizeOptions& options, int lmax) {
  std::optional<Beam> beam;
  const auto add = [&](const Beam& other) { beam = beam ? *beam * other : other; };
  if (!options.fwhm.empty()) add(gaussian_beam(parse_width(options.fwhm, "--fwhm"), lmax));
  if (!options.beam.empty()) add(read_beam(run.comm, options.beam));
  if (!options.pixel_window.empty()) add(read_pixel_window(run.comm, options.pixel_window));
  return beam;
}

template <class T>
void run_with(Run& run, const SynthesizeOptions& options, Source& source,
              const std::optional<Beam>& beam, SphericalHarmonicTransform& transform,
              const std::shared_ptr<const RingGrid>& full_grid) {
  const AlmLayout& layout = transform.alm_layout();
  auto alm = agreed(run.comm, [&] { return transform.make_alm<T>(); });
  if (source.alm != nullptr) {
    run.progress.stage("reading " + options.alm);
    const StageTimer timer(&run.times, "read");
    source.alm->read(source.choice.columns, layout, alm.view());
    run.bytes_read += run.comm.sum(alm.view().size() * alm.view().n_components()) * 2 *
                      bytes_of(source.precision);
    require_finite_alm<T>(run.comm, options.alm, source.choice.components, layout, alm.view());
    source.alm.reset();
  } else {
    const StageTimer timer(&run.times, "draw");
    naming(options.cl, [&] {
      agree(run.comm, [&] { draw_alm(*source.spectra, source.seed, layout, alm.view()); });
    });
  }
  if (beam) multiply(*beam, layout, source.choice.fields, alm.view());

  Provenance provenance = run.provenance();
  provenance.input = source.spectra ? options.cl : options.alm;
  provenance.lmax = layout.lmax();
  if (!options.fwhm.empty()) {
    provenance.fwhm_degrees = parse_angle(options.fwhm, "--fwhm") * 180 / std::numbers::pi;
  }
  if (!options.beam.empty()) provenance.beam = options.beam;
  if (!options.save_alm.empty()) {
    run.progress.stage("writing " + options.save_alm);
    const StageTimer timer(&run.times, "write");
    const AlmHeader header{layout.lmax(),
                           layout.mmax(),
                           source.choice.components,
                           sizeof(T) == 4 ? Precision::single_ : Precision::double_,
                           source.unit,
                           {}};
    write_alm(run.outputs.begin(options.save_alm), header, provenance, layout,
              AlmView<const T>(alm.view()));
  }

  run.progress.stage("synthesis");
  MapBuffer<T> map = transform.synthesize<T>(std::move(alm));
  record_transform(run, transform, {1});
  transform.release_workspace();

  run.progress.stage("writing " + options.output);
  const StageTimer timer(&run.times, "write");
  MapHeader header;
  header.grid = full_grid;
  header.ordering = options.order == "nested" ? Ordering::nested : Ordering::ring;
  header.coverage = transform.rings().grid().is_subset() ? SkyCoverage::partial : SkyCoverage::full;
  header.precision = sizeof(T) == 4 ? Precision::single_ : Precision::double_;
  header.columns = standard_columns(source.choice, source.unit);
  write_map(run.outputs.begin(options.output), header, provenance, transform.rings(),
            MapView<const T>(map.view()));
}

}  // namespace

int synthesize(Run& run, const SynthesizeOptions& options) {
  run.outputs.announce(options.output, OutputContent::map);
  run.outputs.announce(options.save_alm, OutputContent::alm);
  Source source = open_source(run, options);
  const auto grid = output_grid(options);
  TransformSpec spec = make_spec(options.transform, grid, source.choice.fields, source.lmax);
  spec.backend = choose_backend(run, options.transform.backend);
  const Precision precision = storage_precision(options.transform.precision, source.precision);
  if (source.spectra && source.spectra->lmax() < spec.lmax) {
    run.warn(fmt::format("{} ends at l = {}; degrees up to lmax = {} are zero", options.cl,
                         source.spectra->lmax(), spec.lmax));
  }
  require_memory_for(run, spec, precision);
  const std::optional<Beam> beam = output_beam(run, options, spec.lmax);
  const MemoryUse use{Operation::synthesis_consuming, precision};
  const auto transform = plan_transform(run, spec, use, options.transform.backend);
  const MemoryEstimate estimate = estimate_memory(*transform, use);
  if (options.transform.fields.empty()) run.detail("fields " + source.choice.name);
  record_plan(run, *transform, estimate, {1});
  require_memory(run, estimate);
  if (run.options.dry_run) return 0;

  const auto full_grid = grid->is_subset() ? named_grid(options.transform) : grid;
  with_storage(precision, [&](auto storage) {
    run_with<decltype(storage)>(run, options, source, beam, *transform, full_grid);
  });
  run.conclusion = fmt::format("{}: {} on {}, lmax {}", options.output, source.choice.name,
                               grid->name(), spec.lmax);
  return 0;
}

}  // namespace ringweave
