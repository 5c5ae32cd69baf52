// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

namespace ringweave {

/// Properties a device reports. Its speed is measured (bench/).
struct DeviceProperties {
  std::string name;
  int compute_capability;  ///< 90 means 9.0
  int n_multiprocessors;
  double clock_hz;  ///< maximum
  std::int64_t memory_bytes;
  int driver_version;   ///< of CUDA; 13000 means 13.0
  int runtime_version;  ///< of the CUDA runtime this program was built with
};
/// Returns the properties of this thread's device. Error  ResourceError.
DeviceProperties device_properties();

}  // namespace ringweave
