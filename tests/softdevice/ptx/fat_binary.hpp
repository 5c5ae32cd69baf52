// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace softdevice::ptx {

/// Returns the PTX text in a fat binary that nvcc made: that of the highest compute capability up
/// to `capability`, unpacked.
///
/// wrapper  as an object registers it (__cudaRegisterFatBinary)
/// Error    std::runtime_error where there is none, or the binary is not of the known kind
std::string ptx_of(const void* wrapper, int capability);

}  // namespace softdevice::ptx
