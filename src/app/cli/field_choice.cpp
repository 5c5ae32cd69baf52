// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/field_choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/checked_cast.hpp"
#include "io/column_names.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline app {
namespace {

int find_stokes(const MapHeader& header, char letter) {
  for (std::size_t i = 0; i < header.columns.size(); ++i) {
    if (is_stokes(header.columns[i].name, letter)) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace

FieldChoice fields_named(const std::string& name) {
  if (name == "T") return {name, {0}, {"T"}, FieldSet({0})};
  if (name == "TQU") return {name, {0, 1, 2}, {"T", "E", "B"}, FieldSet({0, 2})};
  if (name == "QU") return {name, {0, 1}, {"E", "B"}, FieldSet({2})};
  throw UsageError(fmt::format("--fields {}: expected T, TQU or QU", name));
}

FieldChoice choose_fields(const std::string& path, const MapHeader& header,
                          const std::string& asked) {
  const int q = find_stokes(header, 'Q');
  const int u = find_stokes(header, 'U');
  const bool polarised = q >= 0 && u >= 0;
  const int n_columns = static_cast<int>(header.columns.size());
  if (asked == "all") {
    FieldChoice choice{asked, {}, {}, FieldSet::batch(0, n_columns)};
    for (int column = 0; column < n_columns; ++column) {
      choice.columns.push_back(column);
      choice.components.push_back(header.columns[to_size(column)].name);
    }
    return choice;
  }
  std::string name = asked;
  if (name.empty()) name = !polarised ? "T" : n_columns >= 3 ? "TQU" : "QU";

  FieldChoice choice = fields_named(name);
  if (name == "QU")
    choice.columns = polarised        ? std::vector<int>{q, u}
                     : n_columns >= 3 ? std::vector<int>{1, 2}
                                      : std::vector<int>{0, 1};
  if (name == "TQU" && polarised) choice.columns = {q == 0 || u == 0 ? n_columns : 0, q, u};
  for (const int column : choice.columns) {
    if (column < n_columns) continue;
    throw DataError(
        path, fmt::format(
                  "holds {} column{}, --fields {} needs {}; expected columns such as TEMPERATURE, "
                  "Q_POLARISATION, U_POLARISATION",
                  n_columns, n_columns == 1 ? "" : "s", name, choice.columns.size()));
  }
  return choice;
}

std::vector<std::string> columns_left_out(const MapHeader& header, const FieldChoice& choice) {
  std::vector<std::string> names;
  for (int column = 0; column < static_cast<int>(header.columns.size()); ++column) {
    if (std::find(choice.columns.begin(), choice.columns.end(), column) == choice.columns.end())
      names.push_back(header.columns[to_size(column)].name);
  }
  return names;
}

FieldSet fields_of(const std::string& path, const AlmHeader& header) {
  const std::size_t n = header.components.size();
  if (n != 2 && n != 3) return FieldSet::batch(0, static_cast<int>(n));
  const FieldChoice all = choose_components(path, header, n == 2 ? "QU" : "TQU");
  if (!std::is_sorted(all.columns.begin(), all.columns.end())) {
    throw DataError(path, fmt::format("holds a_lm of {}; expected them in the order T, E, B",
                                      fmt::join(header.components, ", ")));
  }
  return all.fields;
}

FieldChoice choose_components(const std::string& path, const AlmHeader& header,
                              const std::string& asked) {
  const std::vector<std::string>& names = header.components;
  const std::size_t n = names.size();
  const auto column_of = [&](const std::string& component) {
    const auto found = std::find(names.begin(), names.end(), component);
    return found == names.end() ? -1 : static_cast<int>(found - names.begin());
  };
  FieldChoice choice = fields_named(!asked.empty() ? asked : n >= 3 ? "TQU" : n == 2 ? "QU" : "T");
  if (n < choice.columns.size()) {
    throw DataError(path, fmt::format("holds {} component(s), --fields {} needs {}", n, choice.name,
                                      choice.columns.size()));
  }
  if (n == 1) return choice;  // a scalar, whatever its name
  const bool are_named = column_of("T") >= 0 || column_of("E") >= 0 || column_of("B") >= 0;
  if (choice.name == "QU" && n >= 3) choice.columns = {1, 2};
  if (!are_named) return choice;
  for (std::size_t c = 0; c < choice.columns.size(); ++c) {
    choice.columns[c] = column_of(choice.components[c]);
    if (choice.columns[c] >= 0) continue;
    throw DataError(
        path, fmt::format("holds a_lm of {}, {} needs {}; was it cut short? `ringweave alm --take "
                          "{}` takes one of them as a scalar",
                          fmt::join(names, ", "),
                          asked.empty() ? fmt::format("a file of {} components", n)
                                        : "--fields " + choice.name,
                          fmt::join(choice.components, ", "), names.front()));
  }
  return choice;
}

int choose_column(const std::string& option, const std::string& asked, const std::string& path,
                  const MapHeader& header) {
  std::vector<std::string> names;
  for (std::size_t c = 0; c < header.columns.size(); ++c) {
    names.push_back(header.columns[c].name);
    if (asked == names.back() || asked == std::to_string(c)) return static_cast<int>(c);
  }
  throw UsageError(fmt::format("{} {}: {} has {}; give a name or a number from 0", option, asked,
                               path, fmt::join(names, ", ")));
}

std::vector<MapColumn> standard_columns(const FieldChoice& choice, const std::string& unit) {
  std::vector<MapColumn> columns;
  if (choice.name != "QU") columns.push_back({"TEMPERATURE", unit});
  if (choice.name != "T") {
    columns.push_back({"Q_POLARISATION", unit});
    columns.push_back({"U_POLARISATION", unit});
  }
  return columns;
}

}  // namespace ringweave::detail::inline app
