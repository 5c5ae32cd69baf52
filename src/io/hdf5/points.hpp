// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "io/hdf5/rows.hpp"
#include "io/point_files.hpp"
#include "ringweave/files.hpp"

namespace ringweave::detail::inline io {

// Points and values at points in HDF5 files, unchecked numbers. Collective except find_in_hdf5().

/// Finds points or values in a file. Not collective.
/// Error  DataError unless it is an HDF5 file.
PointContent find_in_hdf5(const std::string& path);

/// Reads this rank's part of the points. Error  DataError, agreed.
PointFile read_hdf5_points(const Communicator& comm, const std::string& path,
                           const Hdf5Limits& limits = {});

/// Reads this rank's part of the values. Error  DataError, also for another number of points than
/// n_points; agreed.
ValuesFile read_hdf5_values(const Communicator& comm, const std::string& path,
                            std::optional<std::int64_t> n_points, const Hdf5Limits& limits = {});

/// Writes to `path` itself. Error  ResourceError, agreed.
template <class T>
void write_hdf5_values(const Communicator& comm, const std::string& path,
                       const ValuesHeader& header, const Provenance& provenance,
                       ComponentView<const T> values, const Hdf5Limits& limits = {});

}  // namespace ringweave::detail::inline io
