// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "io/hdf5/file.hpp"
#include "io/map_file.hpp"

namespace ringweave {

/// All that reading a map needs to know of its file, found on one rank and told to the others.
struct Hdf5MapInfo {
  MapHeader header;
  Hdf5Shape values;                ///< /map or /partial/map
  std::optional<Hdf5Shape> pixel;  ///< /partial/pixel
  std::optional<double> bad_data;  ///< stored in place of UNSEEN
  /// Index of the U column whose sign must change (POLCCONV=IAU); -1: none.
  std::int64_t flipped_column = -1;
};

constexpr const char* hdf5_full_map = "map";
constexpr const char* hdf5_partial_map = "partial/map";
constexpr const char* hdf5_partial_pixel = "partial/pixel";

/// Opens the file on this rank alone and checks everything that can be checked without its numbers.
/// Reads TOAST3's layout too. Not collective. Error  DataError.
Hdf5MapInfo read_hdf5_map_info(const std::string& path);

/// Rank 0 reads, all get the same. Collective. Error  DataError, agreed.
Hdf5MapInfo share_hdf5_map_info(const Communicator& comm, const std::string& path);

/// Creates the file with all but the numbers of the map. Not collective. Error  ResourceError.
DiskSpace create_hdf5_map(const std::string& path, const MapHeader& header,
                          const Provenance& provenance);

/// The attributes of the root group that say what the file is and how it came to be.
void write_hdf5_root(const Hdf5Handle& file, const std::string& path, const Provenance& provenance);
/// Attributes of a data set: the beam, the band limit and the analysis it went through.
void write_hdf5_processing(const Hdf5Handle& dataset, const std::string& path,
                           const Provenance& provenance);

}  // namespace ringweave
