// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "app/lens/lens_job.hpp"
#include "app/lens/lens_plan.hpp"
#include "app/predict/memory_estimate.hpp"
#include "app/run.hpp"

namespace ringweave::detail::inline app {

/// Throws where a map of the job's grid, its a_lm and the potential do not fit the memory, before
/// anything is planned. Collective.
void require_memory_for_fields(const Run& run, const LensJob& job, int potential_lmax);

/// Puts memory and predicted seconds of every stage into the report, prints them where that is
/// asked for, and throws where the memory lacks, with a number of ranks that would do.
/// plan      of this rank
/// analysis  memory that the analysis of a map holds on this rank; empty where there is none
/// Collective.
void record_lens_plan(Run& run, const LensJob& job, const PotentialSource& source,
                      const LensPlan& plan, const std::vector<MemoryItem>& analysis);

}  // namespace ringweave::detail::inline app
