// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/text_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string_view>
#include <utility>

#include "io/input_file.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline io {
namespace {

constexpr std::int64_t max_bytes = std::int64_t{1} << 30;

std::vector<double> parse_row(std::string_view text, const std::string& path, std::int64_t line) {
  std::vector<double> row;
  for_each_word(text, [&](std::string_view word) {
    row.push_back(parse_number(std::string(word), path, line));
  });
  return row;
}

}  // namespace

double parse_any_number(std::string word, const std::string& path, std::int64_t line) {
  for (char& c : word) {
    if (c == 'D' || c == 'd') c = 'e';
  }
  const char* begin = word.data() + (word.front() == '+' ? 1 : 0);
  const char* end = word.data() + word.size();
  double value = 0;
  const auto parsed = std::from_chars(begin, end, value);
  // Fortran prints values below the smallest double; they are read as zero.
  if (parsed.ec == std::errc::result_out_of_range && parsed.ptr == end &&
      word.find("e-") != std::string::npos)
    return 0;
  if (parsed.ec != std::errc{} || parsed.ptr != end) {
    throw DataError(path, fmt::format("line {}: '{}' is not a number", line, word.substr(0, 40)));
  }
  return value;
}

double parse_number(const std::string& word, const std::string& path, std::int64_t line) {
  const double value = parse_any_number(word, path, line);
  if (!std::isfinite(value))
    throw DataError(path, fmt::format("line {}: '{}' is not finite", line, word));
  return value;
}

TextTable read_text_table(const std::string& path) {
  const InputStamp stamp(path);
  if (stamp.size() > max_bytes) {
    throw DataError(path, fmt::format("has {} bytes; a text table of at most {} was expected",
                                      stamp.size(), max_bytes));
  }
  std::ifstream file(path, std::ios::binary);
  TextTable table;
  std::string text;
  for (std::int64_t line = 1; std::getline(file, text); ++line) {
    if (text.find('\0') != std::string::npos)
      throw DataError(path, fmt::format("line {}: is not text", line));
    const std::size_t comment = std::min(text.size(), text.find('#'));
    if (comment < text.size()) table.comments.push_back(text.substr(comment + 1));
    std::vector<double> row = parse_row(std::string_view(text).substr(0, comment), path, line);
    if (row.empty()) continue;
    if (!table.rows.empty() && row.size() != table.n_columns()) {
      throw DataError(path, fmt::format("line {}: has {} columns, the lines before {}", line,
                                        row.size(), table.n_columns()));
    }
    table.rows.push_back(std::move(row));
    table.line_numbers.push_back(line);
  }
  if (file.bad()) throw DataError(path, "cannot be read to its end");
  stamp.require_same();
  if (table.rows.empty()) throw DataError(path, "holds no numbers");
  return table;
}

std::int64_t first_multipole(const TextTable& table, const std::string& path,
                             std::int64_t latest_first) {
  if (table.n_columns() < 2) {
    throw DataError(path, fmt::format("line {}: has one column; expected l and at least one value",
                                      table.line_numbers.front()));
  }
  const double first = table.rows.front()[0];
  if (first < 0 || first > static_cast<double>(latest_first) || first != std::floor(first)) {
    throw DataError(
        path, fmt::format("line {}: begins with l = {}; {}", table.line_numbers.front(), first,
                          latest_first == 0
                              ? "it must begin at l = 0, so add the rows that are missing"
                              : fmt::format("expected a whole number, 0 to {}", latest_first)));
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

std::optional<std::vector<std::string>> names_of_values(const TextTable& table) {
  for (const std::string& comment : table.comments) {
    std::string text = comment;
    std::replace(text.begin(), text.end(), ',', ' ');
    std::istringstream words(text);
    std::string first, word;
    words >> first;
    if (first != "l" && first != "L" && first != "ell" && first != "multipole") continue;
    std::vector<std::string> names;
    while (words >> word) names.push_back(word);
    if (names.size() + 1 == table.n_columns()) return names;
  }
  return std::nullopt;
}

}  // namespace ringweave::detail::inline io
