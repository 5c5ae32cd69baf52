// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/multipole_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <string_view>

#include "base/checked_cast.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline io {
namespace {

bool is_index(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  constexpr std::array<std::string_view, 4> words{"index", "l", "ell", "multipole"};
  return std::find(words.begin(), words.end(), name) != words.end();
}

}  // namespace

std::int64_t first_multipole(const TextTable& table, const std::string& path,
                             std::int64_t latest_first) {
  if (table.n_columns() < 2) {
    throw DataError(path, fmt::format("line {}: has one column; expected l and at least one value",
                                      table.line_numbers.front()));
  }
  const double first = table.rows.front()[0];
  if (first < 0 || first > static_cast<double>(latest_first) || first != std::floor(first)) {
    throw DataError(path,
                    fmt::format("line {}: begins with l = {}; expected a whole number, 0 to {}",
                                table.line_numbers.front(), first, latest_first));
  }
  for (std::size_t row = 1; row < table.rows.size(); ++row) {
    const double expected = first + static_cast<double>(row);
    if (table.rows[row][0] != expected) {
      throw DataError(path,
                      fmt::format("line {}: l = {} where {} was expected; l must ascend by one",
                                  table.line_numbers[row], table.rows[row][0], expected));
    }
  }
  return static_cast<std::int64_t>(first);
}

FitsTable read_fits_multipoles(const std::string& path) {
  FitsTable table = read_fits_table(path);
  for (std::size_t c = table.column_names.size(); c-- > 0;) {
    if (!is_index(table.column_names[c])) continue;
    table.column_names.erase(table.column_names.begin() + static_cast<std::ptrdiff_t>(c));
    table.columns.erase(table.columns.begin() + static_cast<std::ptrdiff_t>(c));
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

}  // namespace ringweave::detail::inline io
