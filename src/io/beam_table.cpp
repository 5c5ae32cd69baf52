// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/beam_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "base/checked_cast.hpp"
#include "io/fits/table.hpp"
#include "io/keywords.hpp"
#include "io/spectra_comments.hpp"
#include "io/table_kind.hpp"
#include "io/text_table.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline io {
namespace {

constexpr std::array<std::string_view, 3> beam_fields{"T", "E", "B"};

/// Returns the number of the field, T, E or B, that a column's name speaks of.
std::optional<std::size_t> field_of(const std::string& name) {
  constexpr std::array<std::pair<std::string_view, std::size_t>, 22> names{
      {{"T", 0},        {"TT", 0},       {"B_T", 0},          {"BT", 0},           {"B_L", 0},
       {"BL", 0},       {"BEAM", 0},     {"BEAM_T", 0},       {"TEMPERATURE", 0},  {"INT_BEAM", 0},
       {"E", 1},        {"EE", 1},       {"B_E", 1},          {"BE", 1},           {"BEAM_E", 1},
       {"GRADIENT", 1}, {"POL_BEAM", 1}, {"POLARISATION", 1}, {"POLARIZATION", 1}, {"B", 2},
       {"B_B", 2},      {"CURL", 2}}};
  const auto found = std::find_if(names.begin(), names.end(),
                                  [&](const auto& entry) { return entry.first == upper(name); });
  if (found == names.end()) return std::nullopt;
  return found->second;
}

bool names_temperature(const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(),
                     [](const std::string& name) { return field_of(name) == 0; });
}

/// Returns true if the names of a table say that it holds a beam, if only next to a pixel window.
bool names_beam(const TableHead& head) {
  if (head.kind == TableKind::pixel_window) {
    return std::any_of(head.column_names.begin(), head.column_names.end(), [&](const auto& name) {
      return field_of(name) == 0 && !is_of_pixel_window(head, name);
    });
  }
  const bool may_be = head.kind == TableKind::beam || head.kind == TableKind::unknown;
  return may_be && (upper(head.extension).find("BEAM") != std::string::npos ||
                    names_temperature(head.column_names));
}

/// Returns the number of the table to read a beam from: the first that only beams are named as,
/// else the first that names one, else the first that may be one, else the first.
std::size_t beam_table(const std::vector<TableHead>& heads) {
  const auto may_be_beam = [](const TableHead& head) {
    return head.kind == TableKind::beam || head.kind == TableKind::unknown ||
           head.kind == TableKind::spectra;
  };
  auto found = std::find_if(heads.begin(), heads.end(), [](const TableHead& head) {
    return head.kind != TableKind::unknown && names_beam(head);
  });
  if (found == heads.end()) found = std::find_if(heads.begin(), heads.end(), names_beam);
  if (found == heads.end()) found = std::find_if(heads.begin(), heads.end(), may_be_beam);
  return found == heads.end() ? 0 : static_cast<std::size_t>(found - heads.begin());
}

/// Takes the columns by their names.
BeamTable by_name(const std::vector<std::string>& names, std::vector<std::vector<double>> columns) {
  BeamTable table;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const auto field = field_of(names[c]);
    if (field && table.columns[*field].empty()) {
      table.columns[*field] = std::move(columns[c]);
    } else {
      table.warnings.push_back(
          fmt::format("column {} is no beam of T, E or B and is left out", names[c]));
    }
  }
  return table;
}

/// Returns true if the column begins as a beam does whose b_T is `temperature`; b_E may be zero
/// below l = 2.
bool begins_near(const std::vector<double>& column, const std::vector<double>& temperature) {
  constexpr double tolerance = 0.1;
  for (std::size_t l = 0; l < std::min<std::size_t>(column.size(), 3); ++l) {
    if (column[l] != 0)
      return std::abs(column[l] - temperature[l]) <= tolerance * std::abs(temperature[l]);
  }
  return false;
}

/// Takes the columns in the order T, E, B as long as they look like beams.
BeamTable by_position(std::vector<std::vector<double>> columns) {
  BeamTable table;
  const std::size_t n = std::min(columns.size(), beam_fields.size());
  for (std::size_t c = 1; c < n; ++c) {
    if (begins_near(columns[c], columns[0])) {
      table.columns[c] = std::move(columns[c]);
      continue;
    }
    table.warnings.push_back(
        fmt::format("the column after b_{} begins with {}, and b_T with {}: taken for an error and "
                    "left out; if "
                    "it is b_{}, name the columns in the first line: # l T E B",
                    beam_fields[c - 1], columns[c].front(), columns[0].front(), beam_fields[c]));
    break;
  }
  table.columns[0] = std::move(columns[0]);
  return table;
}

bool begins_near_one(const std::vector<double>& column) {
  constexpr double tolerance = 0.01;
  return std::abs(column.front() - 1) <= tolerance;
}

/// Tells whether columns that are named as spectra begin as b_T, b_E and b_B do: healpy writes
/// beams under the names of spectra, and IDL's were POWER SPECTRUM once.
bool begin_as_a_beam(const std::vector<std::vector<double>>& columns) {
  bool are_near = begins_near_one(columns[0]);
  for (std::size_t c = 1; c < std::min(columns.size(), beam_fields.size()); ++c)
    are_near = are_near && begins_near(columns[c], columns[0]);
  return are_near;
}

/// Throws a DataError where the comments of a table say that it holds spectra.
void require_no_spectra(const TextTable& text, const std::vector<std::string>& names,
                        const std::vector<std::vector<double>>& columns, const std::string& path) {
  // TT may be b_T, unless C_l or D_l are spoken of.
  const bool names_tt = std::find(names.begin(), names.end(), "TT") != names.end();
  const bool are_stated = names_tt && stated_d_l(text.comments).has_value();
  if (kind_of_columns(names) != TableKind::spectra && !(are_stated && !begins_near_one(columns[0])))
    return;
  throw DataError(path, fmt::format("holds spectra (its columns are l, {}); expected a beam, `l "
                                    "b_T [b_E [b_B]]`",
                                    fmt::join(names, ", ")));
}

BeamTable checked(BeamTable table) {
  if (table.columns[0].front() == 0)
    table.warnings.push_back("begins with b_T = 0 at l = 0, as a spectrum does; is it a beam?");
  return table;
}

}  // namespace

BeamTable read_text_beam(const std::string& path) {
  const TextTable text = read_text_table(path);
  const std::size_t index = text.n_columns() > 1 ? 1 : 0;
  if (index == 1) first_multipole(text, path, 0);
  std::vector<std::vector<double>> columns(text.n_columns() - index);
  for (const std::vector<double>& row : text.rows) {
    for (std::size_t c = 0; c < columns.size(); ++c) columns[c].push_back(row[c + index]);
  }
  if (const auto names = names_of_values(text); names && index == 1) {
    require_no_spectra(text, *names, columns, path);
    if (names_temperature(*names)) return checked(by_name(*names, std::move(columns)));
  }
  if (columns.size() > beam_fields.size()) {
    throw DataError(path, fmt::format("has {} columns; expected l and up to {} values",
                                      text.n_columns(), beam_fields.size()));
  }
  return checked(by_position(std::move(columns)));
}

TableHead text_beam_head(const std::string& path) {
  const std::vector<double> b_t = read_text_beam(path).columns[0];
  const TextTable text = read_text_table(path);
  const std::optional<std::vector<std::string>> names = names_of_values(text);
  if (!(names && names_temperature(*names)) && !begins_near_one(b_t))
    throw DataError(path, "neither names a beam nor begins near 1");
  TableHead head;
  head.rows = ssize64(b_t);
  head.kind = TableKind::beam;
  head.origin = origin_in(text.comments);
  const std::size_t n_values = text.n_columns() > 1 ? text.n_columns() - 1 : 1;
  for (std::size_t c = 0; c < n_values; ++c)
    head.column_names.push_back(names ? (*names)[c] : fmt::format("{} without a name", c + 1));
  return head;
}

bool is_pixel_window(const std::vector<TableHead>& heads) {
  if (heads.empty()) return false;
  const TableHead& head = heads[beam_table(heads)];
  return head.kind == TableKind::pixel_window && !names_beam(head);
}

BeamTable read_fits_beam(const std::string& path) {
  const std::vector<TableHead> heads = fits_table_heads(path);
  const auto is_map = [](const TableHead& head) { return head.kind == TableKind::map; };
  if (std::any_of(heads.begin(), heads.end(), is_map) &&
      std::none_of(heads.begin(), heads.end(), names_beam)) {
    throw DataError(path,
                    "is a sky map, without a table of b_l next to it; expected b_l by l, text or "
                    "FITS");
  }
  FitsTable table = read_fits_table(path, heads.empty() ? 0 : beam_table(heads));
  if (table.kind == TableKind::pixel_window && names_beam(table)) {
    const TableHead head = table;
    keep_columns(table, [&](const auto& name) { return !is_of_pixel_window(head, name); });
    table.kind = TableKind::beam;
  }
  const TableKind kind = table.kind;
  const auto refuse = [&] {
    throw DataError(path, fmt::format("holds {}; expected b_l by l, text or FITS", words_of(kind)));
  };
  if (kind != TableKind::beam && kind != TableKind::unknown && kind != TableKind::pixel_window &&
      kind != TableKind::spectra) {
    refuse();
  }
  const FitsMultipoles beam = multipoles_of(std::move(table), path);
  if (kind == TableKind::spectra && !(beam.first == 0 && begin_as_a_beam(beam.columns))) refuse();
  if (beam.first != 0) {
    throw DataError(path, fmt::format("begins with l = {}; it must begin at l = 0, so add the rows "
                                      "that are missing",
                                      beam.first));
  }
  BeamTable taken = names_temperature(beam.column_names) ? by_name(beam.column_names, beam.columns)
                                                         : by_position(beam.columns);
  if (kind == TableKind::spectra)
    taken.warnings.push_back("has the names of spectra and begins near 1; taken as a beam");
  if (names_temperature(beam.column_names)) return checked(std::move(taken));
  // IDL's beams of four rows have T E B and T times E.
  for (std::size_t c = beam_fields.size(); c < beam.column_names.size(); ++c) {
    if (!beam.column_names[c].starts_with("ROW "))
      taken.warnings.push_back(fmt::format("column {} is left out", beam.column_names[c]));
  }
  return checked(std::move(taken));
}

}  // namespace ringweave::detail::inline io
