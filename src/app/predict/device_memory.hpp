// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

#include "app/run.hpp"
#include "convolve/ring/ring_device_memory.hpp"
#include "distribute/mpi/device_sharers.hpp"

namespace ringweave::detail::inline app {

/// Shares the device among the ranks. Throws a ResourceError on all ranks, with the numbers, where
/// the bytes of one do not fit. Collective.
/// what  needs them, in the message
DeviceShare require_device_memory(const Run& run, std::int64_t bytes, const std::string& what);

/// Returns the device memory of convolutions on rings, null where there are none: of both, or of
/// the one that needs more. Not collective.
RingDeviceMemory ring_device_memory(const RingConvolutionPlan* scalars,
                                    const RingConvolutionPlan* spins, bool at_once);

}  // namespace ringweave::detail::inline app
