// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cuda_runtime_api.h>

#include <string>

namespace ringweave::detail::gpu {

/// Returns advice on how to resolve an error.
std::string advice(cudaError_t status);

/// Throws a ResourceError when an earlier failure of this process made the device unusable; the
/// message is that of the first failure.
void require_device_alive();

/// Clears an error that a destructor cannot report, so that a later call does not report it.
void forget(cudaError_t status);

}  // namespace ringweave::detail::gpu
