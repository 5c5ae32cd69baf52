// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lens/lens_job.hpp"
#include "app/predict/memory_estimate.hpp"
#include "app/run.hpp"
#include "ringweave/lensing.hpp"

namespace ringweave::detail::inline app {

/// Throws where a map of the job's grid, its a_lm and the potential do not fit the memory, before
/// anything is planned. Collective.
void require_memory_for_lensing(const Run& run, const LensJob& job, int potential_lmax);

/// Puts the plan into the report, prints it where that is asked for, and throws where maps, a_lm
/// and the transform do not fit the memory.
/// before  the program before anything of these was allocated, and what the run holds besides
/// Collective.
void require_lensing_plan(Run& run, const LensJob& job, const Deflection& deflection,
                          const Lensing& lensing, MemoryEstimate before);

}  // namespace ringweave::detail::inline app
