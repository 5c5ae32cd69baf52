// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "io/hdf5/file.hpp"
#include "ringweave/files.hpp"

namespace ringweave::detail::inline io {

/// The facts needed to read a map from its file, found on one rank and broadcast to the others.
struct Hdf5MapInfo {
  MapHeader header;
  Hdf5Shape values;                ///< /map or /partial/map
  std::optional<Hdf5Shape> pixel;  ///< /partial/pixel
  std::optional<double> bad_data;  ///< stored in place of UNSEEN
  /// Index of the U column whose sign must change (POLCCONV=IAU); -1: none.
  std::int64_t flipped_column = -1;
  UnwrittenColumns unwritten{};  ///< of /map: pixels in the order of the file
};

constexpr const char* hdf5_full_map = "map";
constexpr const char* hdf5_partial_map = "partial/map";
constexpr const char* hdf5_partial_pixel = "partial/pixel";

/// Opens the file on this rank alone and checks everything except its numbers. Reads TOAST3's
/// layout too. Not collective. Error  DataError.
Hdf5MapInfo read_hdf5_map_info(const std::string& path);

/// Reads on rank 0 and broadcasts. Collective. Error  DataError, agreed.
Hdf5MapInfo share_hdf5_map_info(const Communicator& comm, const std::string& path);

/// Creates the file with everything except the numbers of the map. Not collective. Error
/// ResourceError.
void create_hdf5_map(const std::string& path, const MapHeader& header,
                     const Provenance& provenance);

/// Writes the attributes of the root group: the kind of file and its provenance.
void write_hdf5_root(const Hdf5Handle& file, const std::string& path, const Provenance& provenance,
                     const char* schema = "ringweave-sphere");
/// Writes attributes of a dataset: the beam, the band limit and the analysis.
void write_hdf5_processing(const Hdf5Handle& dataset, const std::string& path,
                           const Provenance& provenance);

}  // namespace ringweave::detail::inline io
