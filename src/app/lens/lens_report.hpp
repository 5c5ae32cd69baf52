// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <vector>

#include "app/lens/lens_job.hpp"
#include "app/lens/lens_plan.hpp"
#include "app/predict/memory_estimate.hpp"
#include "app/predict/point_prediction.hpp"
#include "app/run.hpp"

namespace ringweave::detail::inline app {

/// Throws where a map of the job's grid, its a_lm and the potential do not fit the memory, before
/// anything is planned. Collective.
void require_memory_for_fields(const Run& run, const LensJob& job, int potential_lmax);

/// Plans the device of the transform to the pixels; nothing on the host, where job and plan go with
/// a warning if a device that --backend auto took is too small. Collective.
std::optional<PointDevice> device_of_pixels(Run& run, LensJob& job, LensPlan& plan);

/// Puts memory and predicted seconds of every stage into the report, prints them where that is
/// asked for, and throws where the memory lacks, with a number of ranks that would do.
/// plan      of this rank
/// analysis  memory that the analysis of a map holds on this rank; empty where there is none
/// device    where the transform to the pixels is, if it is on one
/// Collective.
void record_lens_plan(Run& run, const LensJob& job, const PotentialSource& source,
                      const LensPlan& plan, const std::vector<MemoryItem>& analysis,
                      const std::optional<PointDevice>& device);

}  // namespace ringweave::detail::inline app
