// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <ctime>

namespace ringweave::detail {

/// Returns the processor seconds that this process, with all its threads, has taken so far.
inline double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

}  // namespace ringweave::detail
