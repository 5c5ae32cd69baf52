// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cuda_runtime_api.h>

#include <string>

namespace ringweave::gpu {

/// What to do about an error.
std::string advice(cudaError_t status);

/// Error  ResourceError when the device has failed in this process in a way that nothing it does
/// later can succeed; the message is that of the first failure.
void require_device_alive();

/// What a destructor cannot report must not be taken for the failure of a later call.
void forget(cudaError_t status);

}  // namespace ringweave::gpu
