// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/spectra_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <numbers>
#include <numeric>
#include <optional>
#include <string_view>
#include <vector>

#include "base/checked_cast.hpp"
#include "io/fits/table.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/dimensions.hpp"
#include "io/hdf5/map_header.hpp"
#include "io/keywords.hpp"
#include "io/output_part.hpp"
#include "io/spectra_comments.hpp"
#include "io/table_kind.hpp"
#include "io/text_table.hpp"
#include "io/unit_name.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline io {
namespace {

constexpr std::int64_t most_lmax = 10'000'000;

/// Columns without the first, l, which are spectra or left out.
struct Columns {
  std::vector<std::optional<Spectra::Name>> spectra;
  std::vector<std::string> left_out;
};

/// Returns the columns by their names; nothing where none is known. C_l without the names of fields
/// are TT if nothing else is named. Error  DataError where two are the same.
std::optional<Columns> columns_by_name(const std::vector<std::string>& names,
                                       const std::string& path) {
  Columns columns;
  for (const std::string& name : names) columns.spectra.push_back(spectrum_of_column(name));
  const auto is_known = [](const auto& spectrum) { return spectrum.has_value(); };
  if (std::none_of(columns.spectra.begin(), columns.spectra.end(), is_known)) {
    if (std::count_if(names.begin(), names.end(), names_some_spectrum) != 1) return std::nullopt;
    const auto some = std::find_if(names.begin(), names.end(), names_some_spectrum);
    columns.spectra[static_cast<std::size_t>(some - names.begin())] = Spectra::TT;
  }
  for (std::size_t c = 0; c < names.size(); ++c) {
    if (!columns.spectra[c]) {
      columns.left_out.push_back(names[c]);
      continue;
    }
    const auto first =
        std::find(columns.spectra.begin(), columns.spectra.end(), columns.spectra[c]);
    const auto other = static_cast<std::size_t>(first - columns.spectra.begin());
    if (other == c) continue;
    throw DataError(
        path, fmt::format("its columns {} and {} are both {}; leave one of them out", names[other],
                          names[c], Spectra::names[static_cast<std::size_t>(*columns.spectra[c])]));
  }
  return columns;
}

/// Returns the columns named by the header line, if it names a spectrum. Error  DataError where it
/// names a beam, or a spectrum twice.
std::optional<Columns> named_columns(const TextTable& table, const std::string& path) {
  const std::optional<std::vector<std::string>> names = names_of_values(table);
  if (!names) return std::nullopt;
  if (kind_of_columns(*names) == TableKind::beam) {
    throw DataError(path, fmt::format("holds a beam (its columns are l, {}); expected spectra, `l "
                                      "TT [EE BB TE [EB TB]]`",
                                      fmt::join(*names, ", ")));
  }
  return columns_by_name(*names, path);
}

Columns columns_by_position(const TextTable& table, const std::string& path) {
  const std::size_t n = table.n_columns() - 1;
  if (n != 1 && n != 4 && n != 6) {
    throw DataError(
        path,
        fmt::format(
            "has {} columns and no header line that names them; expected l and TT, or l TT EE "
            "BB TE [EB TB], or a line like '# l TT EE TE'",
            table.n_columns()));
  }
  Columns columns;
  for (std::size_t c = 0; c < n; ++c) columns.spectra.push_back(static_cast<Spectra::Name>(c));
  return columns;
}

/// Makes C_l of the file's numbers if they are D_l. These have another factor sqrt(l(l+1)) for each
/// P: those of CAMB are spectra of the deflection.
void settle_kind(SpectraFile& file, std::optional<bool> stated, SpectrumKind kind) {
  const bool is_asked = kind == SpectrumKind::c_l || kind == SpectrumKind::d_l;
  const bool otherwise = kind == SpectrumKind::d_l || kind == SpectrumKind::stated_or_d_l;
  file.held_d_l = is_asked ? otherwise : stated.value_or(otherwise);
  file.is_stated = stated == file.held_d_l;
  if (stated && !file.is_stated) {
    file.warnings.push_back(fmt::format("its header says {}; read as {} because of --cl-kind {}",
                                        *stated ? "D_l" : "C_l", otherwise ? "D_l" : "C_l",
                                        otherwise ? "dl" : "cl"));
  }
  if (!file.held_d_l) return;
  for (int n = 0; n < Spectra::n_names; ++n) {
    const auto name = static_cast<Spectra::Name>(n);
    if (!file.spectra.has(name)) continue;
    const std::span<double> values = file.spectra.values(name);
    const std::string_view letters = Spectra::names[to_size(std::int64_t{n})];
    const auto n_potentials = static_cast<double>(std::count(letters.begin(), letters.end(), 'P'));
    values[0] = 0;
    for (std::size_t l = 1; l < values.size(); ++l) {
      const auto degree = static_cast<double>(l);
      const double product = degree * (degree + 1);
      values[l] *= 2 * std::numbers::pi / (product * std::pow(product, n_potentials / 2));
    }
  }
}

/// Returns the columns of a table by their names or, where none is known, in HEALPix's order.
Columns fits_columns(const FitsMultipoles& table, const std::string& path,
                     std::vector<std::string>& warnings) {
  const std::vector<std::string>& names = table.column_names;
  if (std::optional<Columns> columns = columns_by_name(names, path)) {
    const auto place_of = [&](std::string_view column) {
      const auto is_it = [&](const std::string& name) { return upper(name) == column; };
      return static_cast<std::size_t>(std::find_if(names.begin(), names.end(), is_it) -
                                      names.begin());
    };
    const std::size_t c_t = place_of("C-T"), c_g = place_of("C-G");
    if (table.creator.starts_with("healpy") && c_t < names.size() && c_g < names.size()) {
      std::swap(columns->spectra[c_t], columns->spectra[c_g]);
      warnings.push_back(
          "written by healpy, which puts EB before TB, under HEALPix's names of the other order; "
          "read as EB, TB");
    }
    return *columns;
  }
  constexpr std::size_t n_of_one_sky = 6, n_of_two_skies = 9;
  const bool are_all = names.size() == n_of_two_skies || names.size() == healpix_spectra.size();
  Columns columns;
  for (std::size_t c = 0; c < names.size(); ++c) {
    const bool is_known = are_all || c < n_of_one_sky;
    columns.spectra.push_back(is_known ? std::optional(healpix_spectra[c].name) : std::nullopt);
    if (!is_known) columns.left_out.push_back(names[c]);
  }
  return columns;
}

}  // namespace

SpectraFile read_text_spectra(const std::string& path, SpectrumKind kind) {
  const TextTable table = read_text_table(path);
  const std::int64_t first = first_multipole(table, path, 2);
  const std::int64_t lmax = first + ssize64(table.rows) - 1;
  const std::optional<Columns> named = named_columns(table, path);
  const Columns columns = named ? *named : columns_by_position(table, path);
  SpectraFile file{.spectra = Spectra(checked_cast<int>(lmax, "lmax")),
                   .unit = stated_unit(table.comments),
                   .ignored_columns = columns.left_out,
                   .origin = origin_in(table.comments)};
  for (std::size_t c = 0; c < columns.spectra.size(); ++c) {
    if (!columns.spectra[c]) continue;
    const std::span<double> values = file.spectra.values(*columns.spectra[c]);
    for (std::int64_t l = first; l <= lmax; ++l)
      values[to_size(l)] = table.rows[to_size(l - first)][c + 1];
  }
  settle_kind(file, stated_d_l(table.comments), kind);
  return file;
}

SpectraFile read_fits_spectra(const std::string& path, SpectrumKind kind) {
  FitsTable read = read_fits_table(path);
  if (read.kind != TableKind::unknown && read.kind != TableKind::spectra)
    throw DataError(path, fmt::format("holds {}; expected spectra by l", words_of(read.kind)));
  const FitsMultipoles table = multipoles_of(std::move(read), path);
  constexpr std::int64_t latest_first = 2;
  if (table.first > latest_first) {
    throw DataError(
        path, fmt::format("begins with l = {}; expected at most {}", table.first, latest_first));
  }
  const std::int64_t length = ssize64(table.columns.front());
  SpectraFile file{.spectra = Spectra(checked_cast<int>(table.first + length - 1, "lmax"))};
  const Columns columns = fits_columns(table, path, file.warnings);
  bool has_unit = false;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    if (!columns.spectra[c]) continue;
    const Spectra::Name name = *columns.spectra[c];
    std::copy_n(table.columns[c].begin(), length, file.spectra.values(name).begin() + table.first);
    // That of P is another one.
    if (has_unit || name == Spectra::PP || name == Spectra::TP || name == Spectra::EP) continue;
    file.unit = known_unit(table.units[c]);
    has_unit = true;
  }
  file.ignored_columns = columns.left_out;
  file.origin = table.origin;
  settle_kind(file, table.creator == "ringweave" ? std::optional(false) : std::nullopt, kind);
  return file;
}

SpectraFile read_hdf5_spectra(const std::string& path, SpectrumKind kind) {
  const Hdf5Handle file = open_hdf5(path);
  const std::vector<std::string> names = hdf5_datasets_without_scales(file, path, "cl");
  const bool is_map = has_hdf5_object(file, "map") || has_hdf5_object(file, "partial/map");
  if (names.empty() || is_map) {
    const std::string held = words_of_content(file, path);
    throw DataError(path, fmt::format("holds {}; expected spectra, a dataset in /cl, and no "
                                      "map",
                                      held.empty() ? "no spectra" : held));
  }
  if (names.size() > 1) {
    throw DataError(path,
                    fmt::format("holds {} spectra datasets in /cl; expected one", names.size()));
  }
  const std::string name = "cl/" + names.front();
  const Hdf5Shape shape = inspect_hdf5_dataset(file, path, name);
  const Hdf5Handle dataset(H5Dopen2(file.id(), name.c_str(), H5P_DEFAULT), H5Dclose);
  const Hdf5AttributeReader attributes(dataset, path);
  const std::vector<std::string> stored = attributes.texts("spectra");
  const std::int64_t n_spectra = shape.dims.size() == 2 ? shape.dims[0] : 1;
  if (ssize64(stored) != n_spectra || shape.dims.back() > most_lmax + 1) {
    throw DataError(
        path, fmt::format(
                  "/{} has {} rows of {} numbers; expected one row for each name of its attribute "
                  "spectra ({}), to lmax = {} at most",
                  name, n_spectra, shape.dims.back(), stored.size(), most_lmax));
  }
  if (attributes.text("ell_factor").value_or("none") != "none") {
    throw DataError(path, fmt::format("/{} has ell_factor = '{}'; expected none, that is C_l", name,
                                      *attributes.text("ell_factor")));
  }
  const std::vector<double> values =
      read_small_dataset(file, path, name, Spectra::n_names * (most_lmax + 1));
  const std::int64_t length = shape.dims.back();
  SpectraFile read{.spectra = Spectra(static_cast<int>(length - 1)),
                   .unit = attributes.text("units").value_or("")};
  read.origin = read_hdf5_origin(file, dataset, path);
  for (std::int64_t row = 0; row < n_spectra; ++row) {
    const auto which =
        std::find(Spectra::names.begin(), Spectra::names.end(), stored[to_size(row)]);
    if (which == Spectra::names.end()) {
      read.ignored_columns.push_back(stored[to_size(row)]);
      continue;
    }
    const auto begin = values.begin() + row * length;
    if (!std::all_of(begin, begin + length, [](double value) { return std::isfinite(value); })) {
      throw DataError(path, fmt::format("/{} row {} ({}) holds NaN or infinity", name, row,
                                        stored[to_size(row)]));
    }
    const auto spectrum = static_cast<Spectra::Name>(which - Spectra::names.begin());
    if (read.spectra.has(spectrum))
      throw DataError(path, fmt::format("/{} has {} twice; leave one of them out", name, *which));
    std::copy_n(begin, length, read.spectra.values(spectrum).begin());
  }
  settle_kind(read, false, kind);
  return read;
}

int n_spectra_to_write(const Spectra& spectra) {
  if (spectra.has_potential()) return Spectra::n_names;
  if (has_two_skies(spectra)) return 9;
  if (spectra.has(Spectra::EB) || spectra.has(Spectra::TB)) return 6;
  return spectra.is_polarised() ? 4 : 1;
}

bool has_two_skies(const Spectra& spectra) {
  return spectra.has(Spectra::ET) || spectra.has(Spectra::BE) || spectra.has(Spectra::BT);
}

void write_text_spectra(const std::string& path, const Spectra& spectra,
                        const Provenance& provenance, const std::string& unit) {
  const int n_columns = n_spectra_to_write(spectra);
  std::string text = fmt::format("# C_l{}, {} {}\n", unit.empty() ? "" : " in " + in_one_line(unit),
                                 provenance.creator, provenance.version);
  for (const std::string& comment : comments_of(provenance)) text += fmt::format("#{}\n", comment);
  text += "# l";
  for (int c = 0; c < n_columns; ++c)
    text += fmt::format(" {}", Spectra::names[static_cast<std::size_t>(c)]);
  for (int l = 0; l <= spectra.lmax(); ++l) {
    text += fmt::format("\n{}", l);
    for (int c = 0; c < n_columns; ++c)
      text += fmt::format(" {:.17g}", spectra(static_cast<Spectra::Name>(c), l));
  }
  text += '\n';
  write_whole_file(path, text);
}

namespace {

void name_dimensions(const Hdf5Handle& group, const std::string& path, const Hdf5Handle& dataset,
                     const std::vector<std::string>& names, int lmax) {
  std::vector<std::int32_t> multipoles(to_size(lmax + 1));
  std::iota(multipoles.begin(), multipoles.end(), 0);
  const Hdf5Handle ell = write_small_dataset(group, path, "ell", H5T_NATIVE_INT32,
                                             {ssize64(multipoles)}, multipoles.data());
  make_hdf5_scale(ell, path, "ell");
  const Hdf5Handle spectrum = write_hdf5_labels(group, path, "spectrum", names);
  attach_hdf5_scales(dataset, path, {&spectrum, &ell});
}

}  // namespace

void write_hdf5_spectra(const std::string& path, const Spectra& spectra,
                        const Provenance& provenance, const std::string& unit) {
  std::vector<std::string> names;
  std::vector<double> values;
  for (int n = 0; n < Spectra::n_names; ++n) {
    const auto name = static_cast<Spectra::Name>(n);
    if (!spectra.has(name)) continue;
    names.emplace_back(Spectra::names[static_cast<std::size_t>(n)]);
    const std::span<const double> row = spectra.values(name);
    values.insert(values.end(), row.begin(), row.end());
  }
  if (names.empty()) throw UsageError(fmt::format("{}: there is no spectrum to write", path));
  Hdf5Handle file = create_hdf5(path);
  write_hdf5_root(file, path, provenance);
  Hdf5Handle group = create_hdf5_group(file, path, "cl");
  Hdf5Handle dataset =
      write_small_dataset(group, path, "spectra", H5T_NATIVE_DOUBLE,
                          {ssize64(names), spectra.lmax() + std::int64_t{1}}, values.data());
  name_dimensions(group, path, dataset, names, spectra.lmax());
  const Hdf5AttributeWriter attributes(dataset, path);
  attributes.texts("spectra", names);
  attributes.text("ell_factor", "none");
  if (const std::string parsed = astropy_unit(unit); !parsed.empty())
    attributes.text("units", parsed);
  write_hdf5_processing(dataset, path, provenance);
  dataset.close();
  group.close();
  close_hdf5(std::move(file), path);
}

}  // namespace ringweave::detail::inline io
