// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

namespace ringweave::detail::inline io {

/// Returns the size of an input file in bytes. Not collective.
/// Error  DataError when it is missing, empty, unreadable or not a regular file (reading a pipe
/// would block forever).
std::int64_t check_input_file(const std::string& path);

/// Returns the text of an input file. Not collective.
/// Error  DataError as check_input_file(), when it has more than `most_bytes`, and when it cannot
///        be read to its end.
std::string read_input_text(const std::string& path, std::int64_t most_bytes);

}  // namespace ringweave::detail::inline io
