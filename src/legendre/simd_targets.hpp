// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace ringweave {

/// Names of the instruction sets the host Legendre stage was compiled for, best first, separated by
/// blanks.
std::string simd_targets_compiled();
/// The one this machine runs.
std::string simd_target_chosen();

}  // namespace ringweave
