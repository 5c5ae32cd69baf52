// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/spectra_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <numbers>
#include <optional>
#include <sstream>
#include <vector>

#include "base/checked_cast.hpp"
#include "io/fits/table.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/map_header.hpp"
#include "io/text_table.hpp"
#include "io/unit_name.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline io {
namespace {

/// Marks the comment with the command line, whose file names must not be mistaken for column names
/// or a normalisation.
constexpr const char* command_mark = " command:";
constexpr std::int64_t max_lmax = 10'000'000;

std::string without_blanks(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (std::isspace(static_cast<unsigned char>(c)) == 0) result += c;
  }
  return result;
}

/// Whether the comment names D_l: D_l, Dl, D_ell, D_L as a word or before a spectrum's name (DlTT).
bool names_d_l(const std::string& comment) {
  for (std::size_t at = comment.find('D'); at != std::string::npos;
       at = comment.find('D', at + 1)) {
    if (at > 0 && std::isalnum(static_cast<unsigned char>(comment[at - 1])) != 0) continue;
    std::size_t next = at + 1;
    while (next < comment.size() &&
           (comment[next] == '_' || comment[next] == '{' || comment[next] == '\\'))
      ++next;
    if (comment.compare(next, 3, "ell") == 0) {
      next += 3;
    } else if (next < comment.size() && (comment[next] == 'l' || comment[next] == 'L')) {
      next += 1;
    } else {
      continue;
    }
    if (next >= comment.size() || std::islower(static_cast<unsigned char>(comment[next])) == 0)
      return true;
  }
  return false;
}

bool says_d_l(const std::vector<std::string>& comments) {
  return std::any_of(comments.begin(), comments.end(), [](const std::string& comment) {
    if (comment.starts_with(command_mark)) return false;
    std::string packed = without_blanks(comment);
    packed.erase(
        std::remove_if(packed.begin(), packed.end(), [](char c) { return c == '*' || c == '\\'; }),
        packed.end());
    return packed.find("l(l+1)") != std::string::npos ||
           packed.find("L(L+1)") != std::string::npos ||
           packed.find("ell(ell+1)") != std::string::npos || names_d_l(comment);
  });
}

/// Returns TT for TT, C_TT, Cl_TT, DlTT, D_l^TT, TT[uK^2]; empty for other words.
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

using Columns = std::vector<std::optional<Spectra::Name>>;  ///< without the first, l

/// Returns the columns named by the header line: one with as many words as columns, of which the
/// first is l.
std::optional<Columns> named_columns(const TextTable& table) {
  for (const std::string& comment : table.comments) {
    std::string text = comment;
    std::replace(text.begin(), text.end(), ',', ' ');
    std::istringstream words(text);
    std::string first, word;
    words >> first;
    if (first != "l" && first != "L" && first != "ell" && first != "multipole") continue;
    Columns columns;
    while (words >> word) columns.push_back(spectrum_of(word));
    if (columns.size() + 1 == table.n_columns() &&
        std::any_of(columns.begin(), columns.end(),
                    [](const auto& name) { return name.has_value(); })) {
      return columns;
    }
  }
  return std::nullopt;
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
  for (std::size_t c = 0; c < n; ++c) columns.push_back(static_cast<Spectra::Name>(c));
  return columns;
}

}  // namespace

Spectra read_text_spectra(const std::string& path) {
  const TextTable table = read_text_table(path);
  const std::int64_t first = first_multipole(table, path, 2);
  const std::int64_t lmax = first + ssize64(table.rows) - 1;
  const std::optional<Columns> named = named_columns(table);
  const Columns columns = named ? *named : columns_by_position(table, path);
  const bool is_d_l = says_d_l(table.comments);
  Spectra spectra(checked_cast<int>(lmax, "lmax"));
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (!columns[c]) continue;
    const std::span<double> values = spectra.values(*columns[c]);
    for (std::int64_t l = first; l <= lmax; ++l) {
      const double factor =
          is_d_l ? 2 * std::numbers::pi / (static_cast<double>(l) * static_cast<double>(l + 1))
                 : 1.0;
      values[to_size(l)] = is_d_l && l == 0 ? 0.0 : table.rows[to_size(l - first)][c + 1] * factor;
    }
  }
  return spectra;
}

Spectra read_fits_spectra(const std::string& path) {
  const FitsTable table = read_fits_multipoles(path);
  constexpr std::array<Spectra::Name, Spectra::n_names> order{
      Spectra::TT, Spectra::EE, Spectra::BB, Spectra::TE, Spectra::TB, Spectra::EB};
  const std::int64_t length = ssize64(table.columns.front());
  Spectra spectra(checked_cast<int>(length - 1, "lmax"));
  for (std::size_t c = 0; c < std::min(table.columns.size(), order.size()); ++c) {
    std::copy_n(table.columns[c].begin(), length, spectra.values(order[c]).begin());
  }
  return spectra;
}

Spectra read_hdf5_spectra(const std::string& path) {
  const Hdf5Handle file = open_hdf5(path);
  const std::vector<std::string> names = hdf5_datasets(file, "cl");
  if (names.size() != 1) {
    throw DataError(path,
                    fmt::format("holds {} spectra datasets in /cl; expected one", names.size()));
  }
  const std::string name = "cl/" + names.front();
  const Hdf5Shape shape = inspect_hdf5_dataset(file, path, name);
  const Hdf5Handle dataset(H5Dopen2(file.id(), name.c_str(), H5P_DEFAULT), H5Dclose);
  const Hdf5AttributeReader attributes(dataset, path);
  const std::vector<std::string> stored = attributes.texts("spectra");
  const std::int64_t n_spectra = shape.dims.size() == 2 ? shape.dims[0] : 1;
  if (ssize64(stored) != n_spectra || shape.dims.back() > max_lmax + 1) {
    throw DataError(
        path, fmt::format(
                  "/{} has {} rows of {} numbers; expected one row for each name of its attribute "
                  "spectra ({}), to lmax = {} at most",
                  name, n_spectra, shape.dims.back(), stored.size(), max_lmax));
  }
  if (attributes.text("ell_factor").value_or("none") != "none") {
    throw DataError(path, fmt::format("/{} has ell_factor = '{}'; expected none, that is C_l", name,
                                      *attributes.text("ell_factor")));
  }
  const std::vector<double> values =
      read_small_dataset(file, path, name, Spectra::n_names * (max_lmax + 1));
  const std::int64_t length = shape.dims.back();
  Spectra spectra(static_cast<int>(length - 1));
  for (std::int64_t row = 0; row < n_spectra; ++row) {
    const auto which =
        std::find(Spectra::names.begin(), Spectra::names.end(), stored[to_size(row)]);
    if (which == Spectra::names.end()) continue;
    const auto begin = values.begin() + row * length;
    if (!std::all_of(begin, begin + length, [](double value) { return std::isfinite(value); })) {
      throw DataError(path, fmt::format("/{} row {} ({}) holds NaN or infinity", name, row,
                                        stored[to_size(row)]));
    }
    std::copy_n(begin, length,
                spectra.values(static_cast<Spectra::Name>(which - Spectra::names.begin())).begin());
  }
  return spectra;
}

void write_text_spectra(const std::string& path, const Spectra& spectra,
                        const Provenance& provenance, const std::string& unit) {
  const bool all = spectra.has(Spectra::EB) || spectra.has(Spectra::TB);
  const int n_columns = all ? 6 : (spectra.is_polarised() ? 4 : 1);
  std::string command = provenance.command_line;
  std::replace(command.begin(), command.end(), '\n', ' ');
  std::string text = fmt::format("# C_l{}, {} {}\n#{} {}\n# l", unit.empty() ? "" : " in " + unit,
                                 provenance.creator, provenance.version, command_mark, command);
  for (int c = 0; c < n_columns; ++c)
    text += fmt::format(" {}", Spectra::names[static_cast<std::size_t>(c)]);
  for (int l = 0; l <= spectra.lmax(); ++l) {
    text += fmt::format("\n{}", l);
    for (int c = 0; c < n_columns; ++c)
      text += fmt::format(" {:.17g}", spectra(static_cast<Spectra::Name>(c), l));
  }
  text += '\n';
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "w"),
                                                             std::fclose);
  if (!file || std::fwrite(text.data(), 1, text.size(), file.get()) != text.size() ||
      std::fflush(file.get()) != 0) {
    throw ResourceError(fmt::format("{}: cannot be written: {}", path, std::strerror(errno)));
  }
}

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
  Hdf5Handle file = create_hdf5(path, ssize64(values) * std::int64_t{8});
  write_hdf5_root(file, path, provenance);
  Hdf5Handle group = create_hdf5_group(file, path, "cl");
  Hdf5Handle dataset =
      write_small_dataset(group, path, "spectra", H5T_NATIVE_DOUBLE,
                          {ssize64(names), spectra.lmax() + std::int64_t{1}}, values.data());
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
