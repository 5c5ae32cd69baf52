// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "base/device.hpp"
#include "legendre/device_legendre_stage.hpp"

namespace ringweave {

/// What device rates are compared with, operations and bytes per second.
struct DeviceCeilings {
  double fma;
  double bytes;
};

/// HEALPix maps of one spin.
struct DeviceCase {
  std::int64_t nside;
  int lmax;
  int spin;
  int maps;
  BatchedSums sums;
};

/// Times the Legendre stage with a_lm and modes on the device, in both directions; `host_repeats`
/// calls of the host's stage beside it (0: none), whose results it must give. Error
/// InternalError when it does not, or when its adjoint is not the transpose.
nlohmann::json measure_device_legendre(const DeviceCase& what, const DeviceCeilings& ceilings,
                                       int host_repeats, const DeviceStream& stream);

}  // namespace ringweave
