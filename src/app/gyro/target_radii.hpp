// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/gyro/gyro_job.hpp"
#include "app/run.hpp"
#include "ringweave/files.hpp"

namespace ringweave::detail::inline app {

/// Averages, or transposes averages, over radii that differ from node to node (--rho-field). Ranks
/// share the rows of averages, or the fields of a transpose. Returns the exit code. Collective.
/// Error  DataError for radii on other nodes than the fields, or negative ones; UsageError for
///        other methods than bilinear and bicubic; ResourceError where a field does not fit.
int average_by_target(Run& run, const GyroJob& job, const PlaneFileReader& reader);

}  // namespace ringweave::detail::inline app
