// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace ringweave {

enum class FileKind { fits, hdf5, text, png };
/// What to do with an output that is there already.
enum class IfExists { fail, overwrite };
/// Storage of maps and a_lm; arithmetic is double.
enum class Precision { single_, double_ };

/// By extension: .fits .fit .fits.gz FITS; .h5 .hdf5 HDF5; .txt .dat .tsv text; .png.
/// Error  UsageError that lists these.
FileKind file_kind(const std::string& path);

}  // namespace ringweave
