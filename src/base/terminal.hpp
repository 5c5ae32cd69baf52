// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace ringweave::detail::inline base {

/// Returns text as a terminal may show it. Bytes of control characters other than line breaks and
/// tabs, and bytes that are not UTF-8, become \x1b and the like: names and texts of files could
/// otherwise move the cursor or hide what is printed.
std::string terminal_text(std::string_view text);

/// Writes terminal_text() and a line break to stderr. An error has no place to be told and is
/// ignored.
void print_message(std::string_view text);

/// Writes the same to stdout. An error is kept for take_output_error(), and nothing more is
/// written.
void print_output(std::string_view text);

/// Returns the number (errno) of the first error of print_output() since the last call; 0 where
/// all was written.
int take_output_error();

}  // namespace ringweave::detail::inline base
