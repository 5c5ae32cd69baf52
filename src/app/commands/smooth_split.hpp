// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/commands/smooth_job.hpp"

namespace ringweave {

/// --method split: few degrees through a_lm, the rest of the kernel on the rings. Scalar fields of
/// a HEALPix map. Collective. Error  UsageError where no split keeps --error.
void smooth_with_split(Run& run, SmoothJob& job);

}  // namespace ringweave
