// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "app/gyro/gyro_batches.hpp"
#include "app/gyro/gyro_job.hpp"
#include "app/run.hpp"
#include "io/plane_output.hpp"
#include "ringweave/files.hpp"
#include "ringweave/gyroaverage.hpp"

namespace ringweave::detail::inline app {

/// Totals of all calls of Gyroaverage on all ranks.
struct BatchTotals {
  double indicator = 0;  ///< the largest
  std::int64_t halo_bytes_sent = 0;
};

/// Reads, averages and writes batch after batch. Collective.
BatchTotals run_batches(Run& run, const GyroJob& job, const GyroBatches& batches,
                        const PlaneFileReader& reader, Gyroaverage& gyroaverage,
                        PlaneOutput& writer);

}  // namespace ringweave::detail::inline app
