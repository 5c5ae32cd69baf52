// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ringweave::detail::inline io {

/// A small table of numbers: columns separated by blanks or commas, '#' comments, Fortran D
/// exponents accepted.
struct TextTable {
  std::vector<std::string> comments;       ///< without '#', in order
  std::vector<std::vector<double>> rows;   ///< equally long
  std::vector<std::int64_t> line_numbers;  ///< of the rows, from 1
  std::size_t n_columns() const { return rows.empty() ? 0 : rows.front().size(); }
};

/// Characters between the words of a line.
constexpr std::string_view text_separators = " \t\r,";

/// Calls `take` with each word of a text.
template <class Take>
void for_each_word(std::string_view text, Take&& take) {
  while (true) {
    const std::size_t begin = text.find_first_not_of(text_separators);
    if (begin == std::string_view::npos) return;
    text.remove_prefix(begin);
    const std::size_t end = std::min(text.size(), text.find_first_of(text_separators));
    take(text.substr(0, end));
    text.remove_prefix(end);
  }
}

/// Reads a number, Fortran's D exponents too; it may be NaN or infinite. Error  DataError naming
/// the line.
double parse_any_number(std::string word, const std::string& path, std::int64_t line);
/// Reads a finite number, else as parse_any_number().
/// Error  DataError also for NaN and infinity.
double parse_number(const std::string& word, const std::string& path, std::int64_t line);

/// Reads a table. Not collective. Error  DataError naming the line for words that are not finite
/// numbers and for ragged rows; for a file without rows or above 1 GiB.
TextTable read_text_table(const std::string& path);

/// Returns the l of the first row of a table whose first column is l. Error  DataError naming the
/// line unless l ascends by one from at most `latest_first`, or when there is no second column.
std::int64_t first_multipole(const TextTable& table, const std::string& path,
                             std::int64_t latest_first);

/// Returns the names of the columns after the first from a comment with as many words as the table
/// has columns, of which the first is l (`# l TT EE`); empty without such a comment.
std::optional<std::vector<std::string>> names_of_values(const TextTable& table);

}  // namespace ringweave::detail::inline io
