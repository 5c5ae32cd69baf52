// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include "distribute/communicator.hpp"
#include "perf_models/machine.hpp"

namespace ringweave {

/// The machine of --machine FILE, else of the file RINGWEAVE_MACHINE names, else the typical one.
/// Collective. Error  DataError when the file is missing or no machine file.
Machine choose_machine(const Communicator& comm, const std::string& option);

}  // namespace ringweave
