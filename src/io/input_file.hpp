// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

namespace ringweave {

/// Bytes of an input file. Not collective.
/// Error  DataError when it is missing, empty, unreadable or not a regular file (a pipe would make
/// us wait forever).
std::int64_t check_input_file(const std::string& path);

}  // namespace ringweave
