// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

namespace ringweave {

/// What a device says of itself; what it does is measured (bench/).
struct DeviceProperties {
  std::string name;
  int compute_capability;  ///< 90 is 9.0
  int n_multiprocessors;
  double clock_hz;  ///< the highest
  std::int64_t memory_bytes;
  int driver_version;   ///< of CUDA, 13000 is 13.0
  int runtime_version;  ///< what this program was built with
};
/// Of this thread's device. Error  ResourceError.
DeviceProperties device_properties();

}  // namespace ringweave
