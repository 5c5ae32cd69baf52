// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <hdf5.h>

#include <functional>
#include <string>

namespace ringweave::detail::inline io {

/// Makes `properties` read from the disk without HDF5's accumulator of metadata, in which libhdf5
/// 1.10 looks up the addresses of a damaged file unchecked. The driver checks them, closes whatever
/// the system says, and notes for report_failed_reads() what the system refuses.
/// path  any regular file
/// Error  that of a file that cannot be opened to read
void read_without_accumulator(hid_t properties, const std::string& path);

/// Runs work in which libhdf5 reads a file by this driver. Where the system failed to open, lock or
/// read the file meanwhile, that is the error, whatever libhdf5 and the work made of it: they may
/// take an object for absent or broken. Not collective.
///
/// Error  that of `work`; DataError for a file that is missing, may not be read or is being
///        written, ResourceError for other failures of the system
void report_failed_reads(const std::string& path, const std::function<void()>& work);

}  // namespace ringweave::detail::inline io
