// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include "distribute/mpi/communicator.hpp"
#include "perf_models/machine.hpp"

namespace ringweave {

/// The machine --machine names, else RINGWEAVE_MACHINE, else the typical one: a described machine
/// by its name, or a file. Collective. Error  DataError when the file is missing or no machine
/// file.
Machine choose_machine(const Communicator& comm, const std::string& option);

}  // namespace ringweave
