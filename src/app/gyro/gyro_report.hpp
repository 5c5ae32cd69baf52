// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>

#include "app/gyro/gyro_batches.hpp"
#include "app/gyro/gyro_job.hpp"
#include "app/run.hpp"
#include "ringweave/gyroaverage.hpp"

namespace ringweave::detail::inline app {

/// Puts nodes, radii, the plan of ranks and memory into the report and, with --dry-run or
/// --verbose, prints them. Collective.
void record_gyro_plan(Run& run, const GyroJob& job, const GyroBatches& batches);

/// Errors to expect of averages, over the largest value.
struct GyroErrors {
  double indicator = 0;               ///< as Gyroaverage::indicator(), of all fields
  std::optional<double> estimated{};  ///< of --estimate
};

/// Puts them into the report, and warns where they matter.
void record_gyro_errors(Run& run, const GyroJob& job, const GyroErrors& errors);
/// Returns the attributes of OUT that state the errors.
std::vector<Keyword> attributes_of(const GyroJob& job, const GyroErrors& errors);

/// Adds the stages of this rank, and bytes of the halo and of the files, to the report. Collective.
/// halo_bytes_sent  by all ranks
void record_gyroaverages(Run& run, const GyroJob& job, std::int64_t halo_bytes_sent,
                         Gyroaverage& gyroaverage);

}  // namespace ringweave::detail::inline app
