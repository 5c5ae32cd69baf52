// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

#include "app/predict/memory_estimate.hpp"
#include "convolve/ring/ring_device_memory.hpp"
#include "distribute/mpi/device_sharers.hpp"
#include "ringweave/communicator.hpp"

namespace ringweave::detail::inline app {

/// Returns the shortage of a device where the bytes of its ranks do not fit, as a message with
/// numbers; empty where all fit. The same on all ranks. Collective.
/// what  needs the bytes, in the message
std::string device_shortage(const Communicator& comm, const DeviceShare& share, std::int64_t bytes,
                            const std::string& what);
/// Throws a ResourceError on all ranks where a device lacks something. Collective.
void require_device_memory(const Communicator& comm, const DeviceShare& share, std::int64_t bytes,
                           const std::string& what);

/// Returns the device memory of convolutions on rings, null where there are none: with masks of
/// both, else of the one that needs more. Not collective.
RingDeviceMemory ring_device_memory(const RingConvolutionPlan* scalars,
                                    const RingConvolutionPlan* spins, MaskSmoothing mask);

}  // namespace ringweave::detail::inline app
