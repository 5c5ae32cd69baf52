// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/gyro/gyro_batches.hpp"
#include "app/gyro/gyro_job.hpp"
#include "app/run.hpp"
#include "io/plane_output.hpp"
#include "ringweave/files.hpp"
#include "ringweave/gyroaverage.hpp"

namespace ringweave::detail::inline app {

/// Reads, averages and writes batch after batch. Collective.
/// Returns the largest Gyroaverage::indicator() of all batches and ranks.
double run_batches(Run& run, const GyroJob& job, const GyroBatches& batches,
                   const PlaneFileReader& reader, Gyroaverage& gyroaverage, PlaneOutput& writer);

}  // namespace ringweave::detail::inline app
