// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
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
                        const std::vector<const Hdf5Handle*>& scales);

/// Returns the dimension scales of a dataset, those of each dimension as the addresses of their
/// objects one after another; empty without a list of them that can be read. (The library's
/// H5DSis_attached() reads the list as the elements of a heap that may be damaged.)
std::vector<std::string> hdf5_scales_of(const Hdf5Handle& dataset, const std::string& path);
/// Tells whether the dataset `name` is among the scales of one dimension, an element of
/// hdf5_scales_of().
bool lists_hdf5_scale(const Hdf5Handle& file, const std::string& scales, const std::string& name);
/// Tells whether a dataset is a dimension scale.
bool is_hdf5_scale(const Hdf5Handle& file, const std::string& path, const std::string& name);

/// Returns the names of the datasets of a group that are not dimension scales, ascending; empty
/// without such a group.
std::vector<std::string> hdf5_datasets_without_scales(const Hdf5Handle& file,
                                                      const std::string& path,
                                                      const std::string& group);

}  // namespace ringweave::detail::inline io
