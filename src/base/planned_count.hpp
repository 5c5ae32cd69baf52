// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

#include "base/error.hpp"

namespace ringweave {

/// Throws UsageError unless the size `there` equals the planned one. `where` and `what` name it,
/// e.g. "ring FFT on a device", "pixels of a component".
inline void require_planned(const char* where, std::int64_t there, std::int64_t planned,
                            const char* what) {
  if (there == planned) return;
  throw UsageError(std::string(where) + ": " + std::to_string(there) + " " + what +
                   "; the plan has " + std::to_string(planned));
}

}  // namespace ringweave
