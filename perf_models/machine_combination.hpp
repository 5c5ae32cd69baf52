// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "perf_models/machine.hpp"

namespace ringweave {

/// Combines calibrations of one machine from separate launches: costs are trimmed means
/// (combine_curves), and the differences between launches, which no single one can see, add to the
/// uncertainty. Error  UsageError unless there are two or more, all measured, on like processors,
/// ranks, threads and devices, at the same sizes.
Machine combine_machines(const std::vector<Machine>& calibrations);

}  // namespace ringweave
