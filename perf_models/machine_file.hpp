// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include "perf_models/machine.hpp"

namespace ringweave::detail::inline perf_models {

/// Convert a machine to the text of a machine file (JSON), and back. Error  DataError naming
/// `where` and the key when an entry is missing, of the wrong type or invalid.
std::string machine_text(const Machine& machine);
Machine parse_machine(const std::string& text, const std::string& where);

}  // namespace ringweave::detail::inline perf_models
