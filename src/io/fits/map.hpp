// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <string>

#include "io/fits/gzip.hpp"
#include "ringweave/files.hpp"

namespace ringweave::detail::inline io {

/// Opens the first HEALPix map of a FITS file: full or partial sky, RING or NESTED, any number of
/// columns. Rank 0 reads the file and broadcasts its blocks. Collective. Error  DataError.
std::unique_ptr<MapReader> open_fits_map(const Communicator& comm, const std::string& path);

/// Writes a HEALPix map to `path`, which must be safe to replace. Blocks of pixels are summed to
/// rank 0, which writes them; no rank holds more than a block besides its own pixels. A partial map
/// lists the pixels that are not UNSEEN in every column, ascending. Gzip is a second pass over the
/// finished file. Collective. Error  UsageError for grids other than HEALPix; ResourceError when
/// the disk is full; DataError when a value does not fit single precision.
template <class T>
void write_fits_map(const Communicator& comm, const std::string& path, const MapHeader& header,
                    const Provenance& provenance, const LocalRings& rings, MapView<const T> map,
                    FitsPacking packing = FitsPacking::plain);

}  // namespace ringweave::detail::inline io
