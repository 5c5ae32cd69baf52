// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include "perf_models/machine.hpp"

namespace ringweave {

/// The text of a machine file (JSON), and back. Error  DataError naming `where` and the key when
/// something is missing, of the wrong kind or without sense.
std::string machine_text(const Machine& machine);
Machine parse_machine(const std::string& text, const std::string& where);

}  // namespace ringweave
