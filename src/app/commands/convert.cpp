// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "app/cli/angle.hpp"
#include "app/commands/commands.hpp"
#include "app/content.hpp"
#include "app/table_input.hpp"
#include "app/transform_setup.hpp"
#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "io/coefficient_file.hpp"
#include "io/field_files.hpp"
#include "io/file_kind.hpp"
#include "io/spectra_table.hpp"
#include "ringweave/error.hpp"
#include "ringweave/files.hpp"

namespace ringweave::detail::inline app {
namespace {

std::vector<int> first_integers(std::size_t n) {
  std::vector<int> numbers(n);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

/// Returns the beam of --fwhm or --beam, if any.
std::optional<Beam> asked_beam(Run& run, const ConvertOptions& options, int lmax) {
  if (!options.beam.empty()) return beam_of_file(run, options.beam, lmax);
  note_where_nothing_is_smoothed(run, options.fwhm);
  if (!options.fwhm.empty()) return gaussian_beam(parse_width(options.fwhm, "--fwhm"), lmax);
  return std::nullopt;
}

std::optional<double> asked_fwhm(const ConvertOptions& options) {
  if (options.fwhm.empty()) return std::nullopt;
  return parse_degrees(options.fwhm, "--fwhm");
}

/// Multiplies C_l^XY by b_X b_Y; the lensing potential has no beam.
void smooth_spectra(const Beam& beam, Spectra& spectra) {
  const auto factor = [&](char field, int l) {
    if (field == 'P') return 1.0;
    const std::vector<double>& b = field == 'T' ? beam.t : field == 'E' ? beam.e : beam.b;
    return l < static_cast<int>(b.size()) ? b[to_size(l)] : 0.0;
  };
  for (int s = 0; s < Spectra::n_names; ++s) {
    const auto name = static_cast<Spectra::Name>(s);
    if (!spectra.has(name)) continue;
    const std::span<double> cl = spectra.values(name);
    for (int l = 0; l <= spectra.lmax(); ++l) {
      cl[to_size(l)] *=
          factor(Spectra::names[to_size(s)][0], l) * factor(Spectra::names[to_size(s)][1], l);
    }
  }
}

/// Values that cannot be computed with can still be copied, but with a warning.
void warn_of(Run& run, const std::string& path, std::int64_t not_finite) {
  if (not_finite == 0) return;
  run.warn(
      fmt::format("{}: {} numbers are NaN or infinite; kept as they are, but synthesize, "
                  "analyze and smooth refuse them",
                  path, not_finite));
}

/// Maps are of float or double; says what becomes of integers.
void note_integers(Run& run, const std::string& path, const MapHeader& header) {
  const bool is_single = header.precision == Precision::single_;
  std::vector<std::string> names;
  int bytes = 0;
  for (const MapColumn& column : header.columns) {
    if (column.integer_bytes == 0) continue;
    names.push_back(column.name);
    bytes = std::max(bytes, column.integer_bytes);
  }
  if (names.empty()) return;
  const bool is_exact = bytes <= (is_single ? 2 : 4);
  run.note(fmt::format("{}: integers ({}) become {}, which is exact{}", path,
                       fmt::join(names, ", "), is_single ? "float32" : "float64",
                       is_exact    ? ""
                       : is_single ? " up to 2^24"
                                   : " up to 2^53"));
}

template <class T>
void convert_map(Run& run, const ConvertOptions& options, MapReader& reader) {
  const auto grid = grid_to_visit(reader, false);
  const LocalRings rings = bands_of_pixels(run.comm, grid);
  MapHeader header = reader.header();
  header.precision = sizeof(T) == 4 ? Precision::single_ : Precision::double_;
  note_integers(run, options.input, header);
  if (options.order == "ring") header.ordering = Ordering::ring;
  if (options.order == "nested") header.ordering = Ordering::nested;
  const auto n = static_cast<std::int64_t>(header.columns.size());
  auto map = agreed(run.comm, [&] { return MapBuffer<T>(n, rings.n_pixels()); });
  {
    run.progress.stage("reading " + options.input);
    const StageTimer timer(&run.times, "read");
    reader.read(first_integers(header.columns.size()), rings, map.view());
    run.bytes_read += run.comm.sum(rings.n_pixels()) * n * bytes_of(reader.header().precision);
  }
  warn_of(run, options.input, count_not_finite(run.comm, map.view()));
  run.progress.stage("writing " + options.output);
  const StageTimer timer(&run.times, "write");
  Provenance provenance = run.provenance(options.input);
  provenance.origin = header.origin;
  write_map(run.outputs.begin(options.output), header, provenance, rings,
            MapView<const T>(map.view()));
}

std::optional<Normalisation> asked_normalisation(const ConvertOptions& options) {
  if (options.normalisation == "orthonormal") return Normalisation::orthonormal;
  if (options.normalisation == "4pi") return Normalisation::four_pi;
  if (options.normalisation == "schmidt") return Normalisation::schmidt;
  return std::nullopt;
}

/// Opens the input; text is a table of coefficients if --normalisation says so and OUT is none.
Content open_input(Run& run, const ConvertOptions& options) {
  const std::optional<Normalisation> normalisation = asked_normalisation(options);
  const bool is_text = file_kind(options.input) == FileKind::text;
  const bool becomes_text = file_kind(options.output) == FileKind::text;
  if (normalisation && is_text == becomes_text) {
    throw UsageError(
        "--normalisation is of a table `l m C S` in text, which must be either IN or OUT; FITS and "
        "HDF5 hold orthonormal a_lm, .gfc has 4pi");
  }
  if (normalisation && is_text) {
    Content content;
    content.alm = open_coefficients(run.comm, options.input, *normalisation);
    return content;
  }
  Content content =
      open_content(run.comm, options.input, spectrum_kind(options.cl_kind), options.variable);
  refuse_table(options.input, content);
  if (normalisation && content.alm == nullptr) {
    throw UsageError(
        fmt::format("--normalisation is for a_lm, and {} holds none; leave it out", options.input));
  }
  if (!normalisation && content.alm != nullptr && becomes_text) {
    throw UsageError(
        fmt::format("{}: a_lm become a table `l m C S` in text with --normalisation "
                    "4pi, schmidt or orthonormal; spectra of a_lm are made by `ringweave "
                    "analyze ALM --cl FILE`",
                    options.output));
  }
  return content;
}

template <class T>
void convert_alm(Run& run, const ConvertOptions& options, const std::optional<Beam>& beam,
                 AlmReader& reader) {
  AlmHeader header = reader.header();
  for (const std::string& warning : header.warnings) run.warn(options.input + ": " + warning);
  header.precision = sizeof(T) == 4 ? Precision::single_ : Precision::double_;
  const AlmLayout layout = own_orders(run.comm, header.lmax, header.mmax);
  auto alm = agreed(run.comm, [&] {
    return AlmBuffer<T>(static_cast<std::int64_t>(header.components.size()), layout.size());
  });
  {
    run.progress.stage("reading " + options.input);
    const StageTimer timer(&run.times, "read");
    reader.read(first_integers(header.components.size()), layout, alm.view());
    run.bytes_read += run.comm.sum(layout.size()) * ssize64(header.components) * 2 *
                      bytes_of(reader.header().precision);
  }
  warn_of(run, options.input, count_not_finite(run.comm, alm.view()));
  if (beam) multiply(*beam, layout, fields_of(options.input, header), alm.view());
  run.progress.stage("writing " + options.output);
  const StageTimer timer(&run.times, "write");
  Provenance provenance = run.provenance(options.input);
  provenance.origin = header.origin;
  provenance.lmax = header.lmax;
  provenance.fwhm_degrees = asked_fwhm(options);
  if (!options.beam.empty()) provenance.beam = options.beam;
  const AtomicOutput& output = run.outputs.begin(options.output);
  const AlmView<const T> view = alm.view();
  if (file_kind(options.output) == FileKind::text) {
    write_coefficients(output, header, provenance, layout, view, *asked_normalisation(options));
  } else {
    write_alm(output, header, provenance, layout, view);
  }
}

}  // namespace

int convert(Run& run, const ConvertOptions& options) {
  run.outputs.keep(options.input);
  Content content = open_input(run, options);
  if (content.spectra) tell_of_spectra(run, options.input, *content.spectra, options.cl_kind);
  run.outputs.announce(options.output, content.map != nullptr   ? OutputContent::map
                                       : content.alm == nullptr ? OutputContent::spectra
                                       : file_kind(options.output) == FileKind::text
                                           ? OutputContent::coefficients
                                           : OutputContent::alm);
  if (content.map != nullptr && (!options.fwhm.empty() || !options.beam.empty())) {
    throw UsageError(
        "convert --fwhm and --beam act on a_lm and spectra; smooth a map with `ringweave "
        "smooth`");
  }
  if (content.map != nullptr) require_map_file(options.output, *content.map->header().grid);
  const int lmax = content.alm != nullptr ? content.alm->header().lmax
                   : content.spectra      ? content.spectra->spectra.lmax()
                                          : 0;
  const std::optional<Beam> beam = asked_beam(run, options, lmax);
  run.outputs.require_writable();
  if (run.options.dry_run) return 0;
  if (content.map != nullptr) {
    with_storage(storage_precision(options.precision, content.map->header().precision),
                 [&](auto storage) { convert_map<decltype(storage)>(run, options, *content.map); });
  } else if (content.alm != nullptr) {
    with_storage(
        storage_precision(options.precision, content.alm->header().precision),
        [&](auto storage) { convert_alm<decltype(storage)>(run, options, beam, *content.alm); });
  } else {
    SpectraFile& file = *content.spectra;
    if (beam) smooth_spectra(*beam, file.spectra);
    Provenance provenance = run.provenance(options.input);
    provenance.origin = file.origin;
    provenance.fwhm_degrees = asked_fwhm(options);
    if (!options.beam.empty()) provenance.beam = options.beam;
    const StageTimer timer(&run.times, "write");
    write_spectra(run.outputs.begin(options.output), provenance, file.spectra, file.unit);
  }
  run.conclusion = fmt::format("{} -> {}", options.input, options.output);
  return 0;
}

}  // namespace ringweave::detail::inline app
