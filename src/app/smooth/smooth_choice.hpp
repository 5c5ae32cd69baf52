// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/smooth/smooth_job.hpp"

namespace ringweave {

/// --method auto: the way that is predicted to be the fastest to --error, among those that compute
/// the same thing; says in one line which and why. Collective.
int smooth_the_fastest_way(Run& run, SmoothJob& job);

}  // namespace ringweave
