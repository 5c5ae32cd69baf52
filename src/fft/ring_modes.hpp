// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "fft/ring_fft.hpp"

namespace ringweave::detail::inline fft {

/// Numbers of modes that the rows hold for a ring.
struct ModeCount {
  std::int64_t n_modes = 0;    ///< 1 + the highest order
  std::int64_t n_present = 0;  ///< number of orders
};

/// Counts the modes of every owned ring. Error  UsageError when the rows do not ascend, leave the
/// buffer, or n_components < 1.
std::vector<ModeCount> modes_of_rings(const RingFftShape& shape);

}  // namespace ringweave::detail::inline fft
