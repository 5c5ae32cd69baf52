// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "perf_models/machine.hpp"

namespace ringweave {

/// What several calibrations of a machine, in launches of their own, say together: costs are
/// means of those in the middle (combine_curves), and how much they differ from launch to launch,
/// which none of them sees, counts as uncertainty. Error  UsageError unless there are two or more,
/// all measured, on like processors, ranks, threads and devices, at the same sizes.
Machine combine_machines(const std::vector<Machine>& calibrations);

}  // namespace ringweave
