// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <hdf5.h>

#include <string>

namespace ringweave::detail::inline io {

/// Makes `properties` read from the disk without HDF5's accumulator of metadata, in which libhdf5
/// 1.10 looks up the addresses of a damaged file unchecked. The driver checks them, and closes
/// whatever the system says.
/// path  any regular file
void read_without_accumulator(hid_t properties, const std::string& path);

}  // namespace ringweave::detail::inline io
