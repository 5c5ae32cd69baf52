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
  double matrices;  ///< cuBLAS's DGEMM; without cuBLAS as fma
};

/// HEALPix maps of one spin.
struct DeviceCase {
  std::int64_t nside;
  int lmax;
  int spin;
  int maps;
  BatchedSums sums;
};

const char* name_of(BatchedSums sums);

/// Times the Legendre stage with a_lm and modes on the device, in both directions; `host_repeats`
/// calls of the host's stage beside it (0: none). Rows say how much its results differ from the
/// host's ("host_difference", relative rms) and its adjoint from the transpose ("adjoint_gap"),
/// both of rounding alone.
nlohmann::json measure_device_legendre(const DeviceCase& what, const DeviceCeilings& ceilings,
                                       int host_repeats, const DeviceStream& stream);

}  // namespace ringweave
