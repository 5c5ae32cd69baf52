// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include "distribute/mpi/communicator.hpp"

namespace ringweave {

/// Returns C_l of T, from l = 0, of a file that `option` names. Collective. Error  DataError.
std::vector<double> temperature_spectrum(const Communicator& comm, const std::string& path,
                                         const std::string& option);

}  // namespace ringweave
