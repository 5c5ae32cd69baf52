// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include "perf_models/machine.hpp"
#include "ringweave/communicator.hpp"

namespace ringweave::detail::inline app {

/// Returns the name of a machine or of its file: that of --machine (`option`), else of
/// RINGWEAVE_MACHINE; empty without.
std::string machine_name(const std::string& option);

/// Returns the machine of --machine, else of RINGWEAVE_MACHINE, else the typical one. A machine is
/// given by the name of a described machine or by a file. Collective. Error  UsageError when there
/// is neither, DataError for a file that is no machine file.
Machine choose_machine(const Communicator& comm, const std::string& option);

}  // namespace ringweave::detail::inline app
