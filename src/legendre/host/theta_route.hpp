// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "legendre/legendre_stage.hpp"

namespace ringweave {

/// Whether the Legendre functions are summed on fewer, equidistant rings and resampled: as asked,
/// or when the estimated work is less.
bool resamples_theta(const LegendreShape& shape);

}  // namespace ringweave
