// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/fits/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>

#include "base/checked_cast.hpp"
#include "io/fits/gzip.hpp"
#include "io/fits/header.hpp"
#include "io/keywords.hpp"
#include "io/spectra_table.hpp"
#include "io/unit_name.hpp"
#include "ringweave/error.hpp"
#include "sphere/kernel/kernel_table.hpp"

namespace ringweave::detail::inline io {
namespace {

constexpr std::int64_t max_numbers = std::int64_t{1} << 27;

void check_size(const FitsFile& file, std::int64_t numbers) {
  if (numbers > max_numbers)
    file.fail(fmt::format("has {} numbers, a table may have {}", numbers, max_numbers));
}

bool is_degree(const std::string& name) {
  constexpr std::array<std::string_view, 3> words{"L", "ELL", "MULTIPOLE"};
  return std::find(words.begin(), words.end(), upper(name)) != words.end();
}

void read_columns(const FitsFile& file, const FitsTableShape& shape, FitsTable& table) {
  std::int64_t numbers = 0;
  for (const FitsColumn& column : shape.columns) {
    if (!column.is_number()) continue;
    const std::int64_t length = checked_product(shape.rows, column.repeat, "elements of a column");
    check_size(file, numbers += length);
    file.read(column, 0, table.columns.emplace_back(to_size(length)));
  }
  if (table.columns.empty()) file.fail("the table has no column of numbers");
}

void erase_column(FitsTable& table, std::size_t number) {
  const auto place = static_cast<std::ptrdiff_t>(number);
  table.column_names.erase(table.column_names.begin() + place);
  table.units.erase(table.units.begin() + place);
  table.columns.erase(table.columns.begin() + place);
}

/// Reads a two-dimensional primary array: one column for each of its rows.
std::optional<FitsTable> read_array(FitsFile& file) {
  if (file.go_to(1) != FitsHdu::image || file.integer("NAXIS") != 2) return std::nullopt;
  if (file.text("CTYPE1")) return std::nullopt;  // a picture of the sky
  const std::int64_t length = file.integer("NAXIS1").value_or(0);
  const std::int64_t n_columns = file.integer("NAXIS2").value_or(0);
  if (length < 1 || n_columns < 1) return std::nullopt;
  check_size(file, checked_product(length, n_columns, "numbers of the primary array"));
  FitsTable table;
  for (std::int64_t c = 0; c < n_columns; ++c) {
    std::vector<double>& column = table.columns.emplace_back(to_size(length));
    table.column_names.push_back(fmt::format("ROW {}", c + 1));
    table.units.emplace_back();
    int any_null = 0;
    int status = 0;
    fits_read_img_dbl(file.handle(), 1, c * length + 1, length, 0.0, column.data(), &any_null,
                      &status);
    file.check(status, fmt::format("read row {} of the primary array", c + 1));
  }
  return table;
}

}  // namespace

FitsTable read_table_head(const FitsFile& file, const FitsTableShape& shape) {
  FitsTable table;
  table.extension = file.text("EXTNAME").value_or("");
  table.creator = file.text("CREATOR").value_or("");
  table.nside = file.integer("NSIDE").value_or(0);
  table.origin = read_origin(file);
  table.is_map = file.text("PIXTYPE") || file.text("ORDERING") || file.text("INDXSCHM");
  for (const FitsColumn& column : shape.columns) {
    if (!column.is_number()) continue;
    if (table.column_names.empty())
      table.rows = checked_product(shape.rows, column.repeat, "elements of a column");
    table.column_names.push_back(column.name);
    table.units.push_back(column.unit);
  }
  table.kind = kind_of(table);
  return table;
}

std::vector<TableHead> fits_table_heads(const std::string& path) {
  FitsFile file = FitsFile::open(path);
  std::vector<TableHead> heads;
  for (int hdu = 2; hdu < FitsFile::most_hdus; ++hdu) {
    const std::optional<FitsHdu> kind = file.go_to(hdu);
    if (!kind) break;
    if (kind != FitsHdu::image) heads.push_back(read_table_head(file, file.table()));
  }
  return heads;
}

std::string words_of_content(FitsFile& file) {
  for (int hdu = 1; hdu < FitsFile::most_hdus; ++hdu) {
    const std::optional<FitsHdu> kind = file.go_to(hdu);
    if (!kind) break;
    if (kind == FitsHdu::image) {
      if (file.text("CTYPE1").value_or("").ends_with("CAR")) return words_of(TableKind::map);
      continue;
    }
    const FitsTable table = read_table_head(file, file.table());
    if (table.kind != TableKind::unknown) return words_of(table.kind);
  }
  return {};
}

FitsTable read_fits_table(const std::string& path,
                          const std::function<bool(const FitsTable&)>& accepts) {
  FitsFile file = FitsFile::open(path);
  bool has_tables = false;
  for (int hdu = 2; hdu < FitsFile::most_hdus; ++hdu) {
    const std::optional<FitsHdu> kind = file.go_to(hdu);
    if (!kind) break;
    if (kind == FitsHdu::image) continue;
    has_tables = true;
    const FitsTableShape shape = file.table();
    FitsTable table = read_table_head(file, shape);
    if (!accepts(table)) continue;
    read_columns(file, shape, table);
    file.require_same();
    return table;
  }
  if (std::optional<FitsTable> array = has_tables ? std::nullopt : read_array(file)) {
    file.require_same();
    return std::move(*array);
  }
  throw DataError(path, has_tables ? "none of its tables is of this kind" : "holds no table");
}

FitsTable read_fits_table(const std::string& path, std::size_t number) {
  std::size_t next = 0;
  return read_fits_table(path, [&](const FitsTable&) { return next++ == number; });
}

void keep_columns(FitsTable& table, const std::function<bool(const std::string&)>& is_wanted) {
  for (std::size_t c = table.column_names.size(); c-- > 0;) {
    if (!is_wanted(table.column_names[c])) erase_column(table, c);
  }
}

FitsMultipoles multipoles_of(FitsTable read, const std::string& path) {
  FitsMultipoles table{std::move(read)};
  for (std::size_t c = table.column_names.size(); c-- > 0;) {
    const bool has_degrees = is_degree(table.column_names[c]);
    if (!has_degrees && upper(table.column_names[c]) != "INDEX") continue;
    const std::vector<double>& index = table.columns[c];
    if (has_degrees && !index.empty()) {
      constexpr double largest = 1e7;
      if (index[0] != std::floor(index[0]) || std::abs(index[0]) > largest) {
        throw DataError(path, fmt::format("column {} begins with {}; expected a degree l",
                                          table.column_names[c], index[0]));
      }
      for (std::size_t row = 0; row < index.size(); ++row) {
        if (index[row] >= 0 && index[row] == index[0] + static_cast<double>(row)) continue;
        throw DataError(path, fmt::format("column {} row {} is {}; l must ascend by one",
                                          table.column_names[c], row + 1, index[row]));
      }
      table.first = static_cast<std::int64_t>(index[0]);
    }
    erase_column(table, c);
  }
  if (table.columns.empty() || table.columns.front().empty())
    throw DataError(path, "its table has no column of values");
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const std::vector<double>& column = table.columns[c];
    if (column.size() != table.columns.front().size()) {
      throw DataError(path,
                      fmt::format("column {} has {} values, the first {}", table.column_names[c],
                                  column.size(), table.columns.front().size()));
    }
    const auto bad = std::find_if(column.begin(), column.end(),
                                  [](double value) { return !std::isfinite(value); });
    if (bad != column.end()) {
      throw DataError(path, fmt::format("column {} row {} is not finite", table.column_names[c],
                                        bad - column.begin() + 1));
    }
  }
  return table;
}

void write_fits_spectra(const std::string& path, const Spectra& spectra,
                        const Provenance& provenance, const std::string& unit) {
  const auto n_columns = to_size(n_spectra_to_write(spectra));
  const std::int64_t length = std::int64_t{spectra.lmax()} + 1;
  std::vector<FitsColumnSpec> specs;
  for (std::size_t c = 0; c < n_columns; ++c) {
    const auto& [column, spectrum] = healpix_spectra[c];
    specs.push_back({std::string(column), "1D", unit_of_spectrum(spectrum, unit)});
  }

  FitsFile file = FitsFile::create(path);
  append_table(file, "POWER SPECTRUM", length, specs);
  put_provenance(file, provenance);
  put_logical(file, "POLAR", n_columns > 1, "polarisation included");
  put_logical(file, "ASYMCL", has_two_skies(spectra), "XY and YX spectra of two skies");
  const std::vector<double> zeros(to_size(length));
  for (std::size_t c = 0; c < n_columns; ++c) {
    const Spectra::Name name = healpix_spectra[c].name;
    file.write(static_cast<int>(c) + 1, 1, 0,
               spectra.has(name) ? spectra.values(name) : std::span(zeros));
  }
  file.close();
  if (path.ends_with(".gz")) gzip_file(path);
}

}  // namespace ringweave::detail::inline io
