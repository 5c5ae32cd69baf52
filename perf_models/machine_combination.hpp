// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "perf_models/machine.hpp"

namespace ringweave::detail::inline perf_models {

/// Combines several calibrations of a machine, from separate launches: costs are means of the
/// middle ones (combine_curves), and the scatter between launches, which no single one shows,
/// counts as uncertainty. Error  UsageError unless there are two or more, all measured, on like
/// processors, ranks, threads and devices, at the same sizes.
Machine combine_machines(const std::vector<Machine>& calibrations);

}  // namespace ringweave::detail::inline perf_models
