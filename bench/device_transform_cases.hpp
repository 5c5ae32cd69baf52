// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "bench/device_legendre_cases.hpp"
#include "ringweave/communicator.hpp"

namespace ringweave::detail {

/// Times, in both directions, the ring FFT alone, also with all rings of a length at once, and
/// whole transforms: with a_lm and maps on the device, and with copies of both from and to pinned
/// host memory. Also times `host_repeats` calls of the host's transform (0: none), whose results
/// must be equal. One rank. Error  InternalError when they are not, or when its adjoint is not the
/// transpose.
nlohmann::json measure_device_transform(const Communicator& comm, const DeviceCase& what,
                                        const DeviceCeilings& ceilings, int host_repeats);

/// Makes one call of a transform with its data on the device, whose operations bench/
/// device_bounds.py counts on the software device. One rank. Error  UsageError unless the direction
/// is synthesis or adjoint.
void call_device_transform(const Communicator& comm, const DeviceCase& what,
                           const std::string& direction);

}  // namespace ringweave::detail
