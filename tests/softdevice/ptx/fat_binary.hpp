// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <string>

namespace softdevice::ptx {

/// Returns the PTX text in a fat binary that nvcc made: that of the highest compute capability up
/// to `capability`, unpacked.
///
/// wrapper  as an object registers it (__cudaRegisterFatBinary)
/// Error    std::runtime_error where there is none, or the binary is not of the known kind
std::string ptx_of(const void* wrapper, int capability);

/// Returns the registers of a thread of a kernel in the machine code of each compute capability
/// that the fat binary has. Error  std::runtime_error
std::map<int, int> registers_of(const void* wrapper, const std::string& kernel);

}  // namespace softdevice::ptx
