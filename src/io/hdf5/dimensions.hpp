// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "io/hdf5/handle.hpp"

namespace ringweave::detail::inline io {

// Dimension scales give the axes of datasets their names and coordinates, as in NetCDF-4. None of
// these functions is collective. Error  ResourceError.

/// Makes a dataset of one axis the coordinate of the dimension of its name.
void make_hdf5_scale(const Hdf5Handle& dataset, const std::string& path, const char* name);

/// Writes a dimension whose coordinate is texts.
Hdf5Handle write_hdf5_labels(const Hdf5Handle& parent, const std::string& path, const char* name,
                             const std::vector<std::string>& labels);

/// Creates a dimension without a coordinate, which has no numbers in the file.
Hdf5Handle create_hdf5_dimension(const Hdf5Handle& parent, const std::string& path,
                                 const char* name, std::int64_t length);

/// Attaches one scale to each axis of a dataset.
void attach_hdf5_scales(const Hdf5Handle& dataset, const std::string& path,
                        std::initializer_list<const Hdf5Handle*> scales);

/// Returns the names of the datasets of a group that are not dimension scales, ascending; empty
/// without such a group.
std::vector<std::string> hdf5_datasets_without_scales(const Hdf5Handle& file,
                                                      const std::string& path,
                                                      const std::string& group);

}  // namespace ringweave::detail::inline io
