// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "base/device.hpp"
#include "legendre/device_legendre_stage.hpp"

namespace ringweave::detail {

/// Reference rates of the device, operations and bytes per second.
struct DeviceCeilings {
  double fma;
  double bytes;
  double matrices;  ///< cuBLAS's DGEMM; fma without cuBLAS
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

/// Times the Legendre stage with a_lm and modes on the device in both directions, and
/// `host_repeats` calls of the host's stage (0: none). Rows have the difference of its results from
/// the host's ("host_difference", relative rms) and the gap between its adjoint and the transpose
/// ("adjoint_gap"); both should be rounding only.
nlohmann::json measure_device_legendre(const DeviceCase& what, const DeviceCeilings& ceilings,
                                       int host_repeats, const DeviceStream& stream);

}  // namespace ringweave::detail
