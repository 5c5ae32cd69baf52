// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <hdf5.h>

#include <string>
#include <vector>

namespace ringweave::detail::inline io {

/// Reads an attribute of variable-length elements (texts, lists), each as the bytes that the file
/// has of it. It finds them in the file's global heap itself, because libhdf5 1.10 follows a
/// damaged heap out of its memory or without end. Not collective.
///
/// width  bytes of one character or list entry in the file
/// Error  DataError when the heap or a reference to it is damaged, or beyond 64 MiB.
/// From   HDF5 File Format Specification 3.0, III.E.
std::vector<std::string> read_hdf5_variable_length(hid_t attribute, const std::string& name,
                                                   std::size_t width, const std::string& path);

}  // namespace ringweave::detail::inline io
