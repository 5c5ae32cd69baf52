// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/device_properties.hpp"

#include <cuda_runtime_api.h>

#include "base/device.hpp"

namespace ringweave {
namespace {

int attribute(cudaDeviceAttr which) {
  int value = 0;
  check_device(cudaDeviceGetAttribute(&value, which, current_device()),
               "asking for a property of the device");
  return value;
}

}  // namespace

DeviceProperties device_properties() {
  cudaDeviceProp properties{};
  check_device(cudaGetDeviceProperties(&properties, current_device()),
               "asking for the properties of the device");
  DeviceProperties found;
  found.name = properties.name;
  found.compute_capability = 10 * properties.major + properties.minor;
  found.n_multiprocessors = properties.multiProcessorCount;
  found.clock_hz = 1e3 * attribute(cudaDevAttrClockRate);
  found.memory_bytes = device_memory().total_bytes;
  check_device(cudaDriverGetVersion(&found.driver_version), "asking for the driver");
  check_device(cudaRuntimeGetVersion(&found.runtime_version), "asking for the CUDA runtime");
  return found;
}

}  // namespace ringweave
