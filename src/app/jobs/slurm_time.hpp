// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace ringweave {

/// Returns the seconds of a time limit in Slurm's formats: M, M:S, H:M:S, D-H, D-H:M, D-H:M:S.
/// Error  UsageError naming `option`.
double slurm_seconds(const std::string& text, const std::string& option);

/// Returns "02:15:00", "3-04:00:00": whole minutes, rounded up.
std::string slurm_time(double seconds);

/// Returns a readable duration: "12 s", "3.4 min", "25 h".
std::string duration_text(double seconds);

}  // namespace ringweave
