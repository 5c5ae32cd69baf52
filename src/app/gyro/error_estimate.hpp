// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "app/gyro/gyro_job.hpp"
#include "app/predict/memory_estimate.hpp"
#include "app/run.hpp"
#include "ringweave/files.hpp"

namespace ringweave::detail::inline app {

/// Throws a UsageError where every second node of the job's grid is no grid for its method.
void require_second_nodes(const GyroJob& job);

/// The plan of an estimate of the error.
struct EstimatePlan {
  std::int64_t fields_at_once = 1;   ///< whose averages are summed over all radii
  std::vector<MemoryItem> memory{};  ///< of this rank
};

/// Plans an estimate that sums so many fields at once, or fewer. Collective.
EstimatePlan plan_estimate(const Run& run, const GyroJob& job, std::int64_t most_fields);

/// Estimates the error of bilinear and bicubic averages over the largest average: the largest
/// difference to the averages of every second node, divided by 3 and 15, as orders 2 and 4 have
/// it. With --combine sum both are of the weighted sums. An axis with an even number of nodes is
/// cut by one, unless it is periodic. Computes all averages again, one radius and field at a time
/// on each rank. Collective.
double estimate_error(Run& run, const GyroJob& job, const EstimatePlan& plan,
                      const PlaneFileReader& reader);

}  // namespace ringweave::detail::inline app
