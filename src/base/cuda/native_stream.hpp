// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cuda_runtime_api.h>

#include "base/device.hpp"

namespace ringweave::detail::gpu {

inline cudaStream_t native(const DeviceStream& stream) {
  return static_cast<cudaStream_t>(stream.handle());
}

}  // namespace ringweave::detail::gpu
