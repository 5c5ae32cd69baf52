// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <string>

#include "io/fits/gzip.hpp"
#include "ringweave/files.hpp"

namespace ringweave::detail::inline io {

/// Opens the a_lm tables of a FITS file: one HDU per component, columns index = l^2 + l + m + 1,
/// real, imaginary, rows in any order. Rank 0 reads the file and broadcasts its blocks of rows.
/// Collective. Error  DataError.
std::unique_ptr<AlmReader> open_fits_alm(const Communicator& comm, const std::string& path);

/// Writes to `path`, which must be safe to replace: one HDU per component, every (l, m) once, by
/// rising index (l-major, as in healpy and HEALPix). Blocks of rows are summed to rank 0, which
/// writes them. Collective. Error  UsageError on shapes; ResourceError when the disk is full.
template <class T>
void write_fits_alm(const Communicator& comm, const std::string& path, const AlmHeader& header,
                    const Provenance& provenance, const AlmLayout& layout, AlmView<const T> alm,
                    FitsPacking packing = FitsPacking::plain);

}  // namespace ringweave::detail::inline io
