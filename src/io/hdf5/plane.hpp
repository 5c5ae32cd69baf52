// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/hdf5/file.hpp"
#include "io/hdf5/rows.hpp"
#include "ringweave/files.hpp"

namespace ringweave::detail::inline io {

// Fields in the plane in HDF5 files (ringweave/files.hpp). Files are written to `path` itself.

inline constexpr const char* plane_schema = "ringweave-plane";

/// Header of a data set of fields, without their numbers.
struct Hdf5PlaneInfo {
  PlaneHeader header;
  FileOrigin origin;  ///< without keywords, which are header.attributes
  std::vector<std::string> warnings;
};

/// Finds the data set `field`, or without a name the only one that can be meant. Not collective.
/// Error  as PlaneFileReader.
Hdf5PlaneInfo find_hdf5_plane(const std::string& path, const std::string& field);

/// Tells whether a file says of itself that it holds fields in the plane. Not collective.
bool states_plane_schema(const Hdf5Handle& file, const std::string& path);

/// Data sets of a file that may be fields in the plane.
struct PlaneContent {
  bool is_stated = false;  ///< its schema says so
  /// Data sets that may be fields; none where the file does not say so and has names of things on
  /// the sphere.
  std::vector<std::string> fields;
};
/// Finds the data sets of a file. Collective.
/// Error  DataError unless it is an HDF5 file, agreed.
PlaneContent find_plane_content(const Communicator& comm, const std::string& path);

/// Sets the axes of a data set of these dimensions from its dimension scales, or from the
/// coordinates y and x next to it or in a group around it; meshes of them are left out with a
/// warning. `datasets` are all of the file. Not collective. Error  DataError for coordinates of y
/// and x that are not one ascending number for each index, and for axes in another order.
void set_plane_axes(const Hdf5Handle& file, const std::string& path,
                    const std::vector<std::string>& datasets, const std::vector<std::int64_t>& dims,
                    Hdf5PlaneInfo& info);

/// Returns an axis by its place among all, y and x the last two.
const PlaneFileAxis& plane_axis_at(const PlaneHeader& header, std::int64_t place);
/// Returns the dimensions of the data set.
std::vector<std::int64_t> plane_dims(const PlaneHeader& header);
/// Returns the indices of a field in words, "rho 2, "; empty where there are no axes before y and
/// x.
std::string words_of_field(const PlaneHeader& header, std::int64_t field);

/// Consecutive rows of a field that move in one call.
struct PlaneCall {
  std::int64_t component = 0;  ///< of the view, and of PlaneFilePart::fields
  std::int64_t first_row = 0;  ///< in the file
  std::int64_t n_rows = 0;
};
/// Checks a rank's part and its view, and cuts it into calls; every rank gets equally many, the
/// surplus without rows. Collective. Error  UsageError, agreed.
std::vector<PlaneCall> plane_calls(const Communicator& comm, const std::string& path,
                                   const PlaneHeader& header, const PlaneFilePart& part,
                                   std::int64_t n_components, std::int64_t size,
                                   const Hdf5Limits& limits);

/// Reads a part of the data set that `header` describes. Collective. Error  as
/// PlaneFileReader::read().
template <class T>
void read_hdf5_plane(const Communicator& comm, const std::string& path, const PlaneHeader& header,
                     const PlaneFilePart& part, MapView<T> values, const Hdf5Limits& limits = {});

/// Creates a file without the numbers of its fields and without the attributes of the data set. Not
/// collective. Error  ResourceError.
void create_hdf5_plane(const std::string& path, const PlaneHeader& header,
                       const Provenance& provenance);
/// Writes a part. Collective. Error  ResourceError, agreed.
template <class T>
void write_hdf5_plane(const Communicator& comm, const std::string& path, const PlaneHeader& header,
                      const PlaneFilePart& part, MapView<const T> values,
                      const Hdf5Limits& limits = {});

}  // namespace ringweave::detail::inline io
