// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <string>

#include "ringweave/files.hpp"

namespace ringweave::detail::inline io {

// Maps and a_lm in FITS files. Files are written to `path`, which must be safe to replace, and
// gzipped in a second pass where its name ends in .gz. All collective.

/// Opens the first HEALPix map of a FITS file: full or partial sky, RING or NESTED, any number of
/// columns. Rank 0 reads the file and broadcasts its blocks. Error  DataError.
std::unique_ptr<MapReader> open_fits_map(const Communicator& comm, const std::string& path);

/// Throws a UsageError for a full grid that FITS maps cannot be on.
void require_fits_grid(const RingGrid& grid);

/// Writes a HEALPix map, or a CAR image of other grids. Blocks of pixels are summed to rank 0,
/// which writes them; no rank holds more than a block besides its own pixels. A partial map lists
/// the pixels that are not UNSEEN in every column, ascending. Error  as require_fits_grid();
/// ResourceError when the disk is full; DataError when a value does not fit single precision.
template <class T>
void write_fits_map(const Communicator& comm, const std::string& path, const MapHeader& header,
                    const Provenance& provenance, const LocalRings& rings, MapView<const T> map);

/// Opens the a_lm tables of a FITS file: one HDU per component, columns index = l^2 + l + m + 1,
/// real, imaginary, rows in any order. Rank 0 reads the file and broadcasts its blocks of rows.
/// Error  DataError.
std::unique_ptr<AlmReader> open_fits_alm(const Communicator& comm, const std::string& path);

/// Writes one HDU per component, every (l, m) once, by rising index (l-major, as in healpy and
/// HEALPix). Blocks of rows are summed to rank 0, which writes them. Error  UsageError on shapes;
/// ResourceError when the disk is full.
template <class T>
void write_fits_alm(const Communicator& comm, const std::string& path, const AlmHeader& header,
                    const Provenance& provenance, const AlmLayout& layout, AlmView<const T> alm);

}  // namespace ringweave::detail::inline io
