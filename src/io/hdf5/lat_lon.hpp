// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/hdf5/file.hpp"
#include "io/hdf5/rows.hpp"
#include "io/lat_lon.hpp"
#include "ringweave/files.hpp"

namespace ringweave::detail::inline io {

/// A map in variables over latitude and longitude, as NetCDF-4 files have them: found on one rank
/// and broadcast to the others.
struct Hdf5LatLonInfo {
  /// A plane (..., latitude, longitude) of a variable: a column of the map.
  struct Plane {
    std::string variable;
    std::int64_t number = 0;
    Hdf5Shape shape;            ///< of the variable
    double scale = 1;           ///< of the stored numbers; -1: U in the IAU convention
    double offset = 0;          ///< added after scaling
    std::vector<double> holes;  ///< stored numbers that mean UNSEEN
    bool nan_is_hole = false;
  };
  MapHeader header;
  LatLonOrder order;
  std::vector<Plane> planes;  ///< as header.columns
};

/// Looks in the root group for latitudes and longitudes and for variables over them; empty where
/// there are no such coordinates. `variable` chooses one; empty: all. Not collective. Error
/// DataError for coordinates of no known grid; UsageError for a variable that is not there, or
/// where there is nothing to choose from.
std::optional<Hdf5LatLonInfo> find_hdf5_lat_lon(const std::string& path,
                                                const std::string& variable);

/// Opens such a map; null where find_hdf5_lat_lon() finds nothing. Collective. Error  agreed.
std::unique_ptr<MapReader> open_hdf5_lat_lon(const Communicator& comm, const std::string& path,
                                             const std::string& variable, const Hdf5Limits& limits);

/// Throws a UsageError for a grid whose rings differ in their longitudes.
void require_lat_lon_grid(const RingGrid& grid);

/// Writes a map as variables over latitude and longitude with CF attributes, which NetCDF-4 reads:
/// rings from north to south, all of the grid; pixels elsewhere are UNSEEN. Collective. Error
/// UsageError for grids whose rings differ in their longitudes; ResourceError; agreed.
template <class T>
void write_hdf5_lat_lon(const Communicator& comm, const std::string& path, const MapHeader& header,
                        const Provenance& provenance, const LocalRings& rings, MapView<const T> map,
                        const Hdf5Limits& limits = {});

/// Consecutive rings that are consecutive in a rank's memory and in the file.
struct RingRows {
  std::int64_t first_ring = 0;  ///< of the full grid
  std::int64_t count = 0;
  std::int64_t first_local = 0;  ///< pixel
};

/// Cuts the rings of a rank that lie within `range` of the full grid into calls within the limits;
/// every rank gets equally many, the surplus empty. Collective.
std::vector<RingRows> ring_rows(const Communicator& comm, const LocalRings& rings, RingRange range,
                                const Hdf5Limits& limits);

}  // namespace ringweave::detail::inline io
