// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/table_kind.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "base/checked_cast.hpp"
#include "io/beam_table.hpp"
#include "io/file_kind.hpp"
#include "io/fits/table.hpp"
#include "io/header_json.hpp"
#include "io/keywords.hpp"

namespace ringweave::detail::inline io {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TableHead, extension, nside, is_map, rows, column_names, kind,
                                   origin)

namespace {

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

bool names_a_beam(const std::string& name) {
  constexpr std::array<std::string_view, 5> words{"BL", "B_L", "B_T", "B_E", "B_B"};
  return is_one_of(words, upper(name)) || has(upper(name), "BEAM");
}

bool names_a_spectrum(const std::string& name) {
  using enum Spectra::Name;
  if (names_some_spectrum(name)) return true;
  const std::optional<Spectra::Name> which = spectrum_of(name);
  if (!which) return false;
  if (name != Spectra::names[static_cast<std::size_t>(*which)]) return true;
  // BT and BE are b_T and b_E of some.
  return which == TE || which == EB || which == TB || which == ET;
}

/// Returns true if HEALPix gives a spectrum of two fields this name, besides TEMPERATURE and
/// GRADIENT.
bool names_two_fields(const std::string& name) {
  constexpr std::array<std::string_view, 12> words{"G-T", "C-T", "C-G", "T-G", "T-C", "G-C",
                                                   "TG",  "TC",  "GC",  "GT",  "CT",  "CG"};
  return is_one_of(words, upper(name));
}

bool is_real_part(const std::string& capitals) {
  return capitals == "REAL" || capitals.starts_with("RE[");
}

bool is_polarisation(const std::string& capitals) {
  constexpr std::array<std::string_view, 2> words{"POLARIZATION", "POLARISATION"};
  return is_one_of(words, capitals);
}

/// Returns true if a table with NSIDE has as many rows as some full-sky map. Spectra to 3 nside -
/// 1, windows and weights have an NSIDE too.
bool has_pixels(const TableHead& head) {
  const auto nside =
      static_cast<std::int64_t>(std::llround(std::sqrt(static_cast<double>(head.rows) / 12)));
  return head.nside > 0 && head.rows > 0 && 12 * nside * nside == head.rows &&
         head.rows != 2 * head.nside && head.rows != 3 * head.nside;
}

}  // namespace

std::string words_of(TableKind kind) {
  switch (kind) {
    case TableKind::map: return "a sky map";
    case TableKind::alm: return "a_lm";
    case TableKind::spectra: return "spectra";
    case TableKind::beam: return "a beam";
    case TableKind::pixel_window: return "a pixel window";
    case TableKind::ring_weights: return "ring weights";
    case TableKind::pixel_weights: return "pixel weights";
    default: return "something else";
  }
}

std::optional<Spectra::Name> spectrum_of(const std::string& word) {
  const std::string stem = word.substr(0, word.find_first_of("[("));
  for (int n = 0; n < Spectra::n_names; ++n) {
    const std::string_view name = Spectra::names[static_cast<std::size_t>(n)];
    if (!stem.ends_with(name)) continue;
    const std::string prefix = stem.substr(0, stem.size() - name.size());
    if (prefix.find_first_not_of("CDlLe_^{") == std::string::npos)
      return static_cast<Spectra::Name>(n);
  }
  return std::nullopt;
}

std::optional<Spectra::Name> spectrum_of_column(const std::string& name) {
  using enum Spectra::Name;
  // TG and GT are not G-T and T-G the other way round: each of a pair is at the same place.
  constexpr std::array<SpectrumColumn, 13> others{{{"TG", TE},
                                                   {"TC", TB},
                                                   {"GC", EB},
                                                   {"GT", ET},
                                                   {"CT", BT},
                                                   {"CG", BE},
                                                   {"TEMPERATURE C_L", TT},
                                                   {"E-MODE C_L", EE},
                                                   {"B-MODE C_L", BB},
                                                   {"T-E CROSS-CORR.", TE},
                                                   {"E-T CROSS CORR.", TE},
                                                   {"T-B CROSS-CORR.", TB},
                                                   {"E-B CROSS-CORR.", EB}}};
  const std::string capitals = upper(name);
  const auto is_it = [&](const SpectrumColumn& known) { return known.column == capitals; };
  if (const auto found = std::find_if(healpix_spectra.begin(), healpix_spectra.end(), is_it);
      found != healpix_spectra.end())
    return found->name;
  if (const auto found = std::find_if(others.begin(), others.end(), is_it); found != others.end())
    return found->name;
  const std::optional<Spectra::Name> as_written = spectrum_of(name);
  return as_written ? as_written : spectrum_of(capitals);
}

bool names_some_spectrum(const std::string& name) {
  constexpr std::array<std::string_view, 6> words{"CL", "C_L", "C_ELL", "DL", "D_L", "D_ELL"};
  return is_one_of(words, upper(name));
}

TableKind kind_of_columns(const std::vector<std::string>& names) {
  const auto any = [&](auto&& is) { return std::any_of(names.begin(), names.end(), is); };
  // Columns about the beam may stand next to spectra.
  if (any(names_a_spectrum)) return TableKind::spectra;
  if (any(names_a_beam)) return TableKind::beam;
  const bool is_healpix = any([](const std::string& name) {
    return upper(name) == "TEMPERATURE" || upper(name) == "GRADIENT";
  });
  return is_healpix && any(names_two_fields) ? TableKind::spectra : TableKind::unknown;
}

TableKind kind_of(const TableHead& head) {
  if (head.is_map) return TableKind::map;
  std::vector<std::string> names;
  for (const std::string& name : head.column_names) names.push_back(upper(name));
  const auto any = [&](auto&& is) { return std::any_of(names.begin(), names.end(), is); };
  const auto any_has = [&](std::string_view part) {
    return any([&](const std::string& name) { return has(name, part); });
  };
  if (any(is_real_part)) return TableKind::alm;
  if (any_has("TEMPERATURE WEIGHTS")) return TableKind::ring_weights;
  if (any_has("PIXEL WEIGHTS")) return TableKind::pixel_weights;
  const std::string extension = upper(head.extension);
  const bool is_of_window = head.nside > 0 && head.rows == 4 * head.nside + 1;
  if (has(extension, "PIXEL WINDOW") || has(extension, "PIXWIN") || any_has("PIXWIN"))
    return TableKind::pixel_window;
  if (has(extension, "SPECTRUM") || extension == "CL") return TableKind::spectra;
  if (has(extension, "BEAM")) return TableKind::beam;
  if (is_of_window && any(is_polarisation)) return TableKind::pixel_window;
  if (has(extension, "WINDOW FUNCTION")) return TableKind::beam;
  const TableKind by_columns = kind_of_columns(head.column_names);
  return by_columns == TableKind::unknown && has_pixels(head) ? TableKind::map : by_columns;
}

bool is_of_pixel_window(const TableHead& table, const std::string& column) {
  const auto is_named = [](const std::string& name) { return has(upper(name), "PIXWIN"); };
  const std::vector<std::string>& names = table.column_names;
  return std::any_of(names.begin(), names.end(), is_named) ? is_named(column)
                                                           : !names_a_beam(column);
}

std::vector<TableHead> table_heads(const Communicator& comm, const std::string& path) {
  return share_from_root(comm, [&]() -> std::vector<TableHead> {
    if (file_kind(path) == FileKind::text) return {text_beam_head(path)};
    if (file_kind(path) == FileKind::fits) return fits_table_heads(path);
    return {};
  });
}

}  // namespace ringweave::detail::inline io
