// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace ringweave::detail::inline io {

enum class FileKind { fits, hdf5, netcdf, coefficients, text, picture };
/// Returns the kind by extension: .fits .fit .fits.gz FITS; .h5 .hdf5 HDF5; .nc .nc4 NetCDF-4; .gfc
/// ICGEM's coefficients; .txt .dat .tsv text; .png .pdf .svg pictures.
/// Error  UsageError that lists these.
FileKind file_kind(const std::string& path);
/// Tells whether the extension is one of HDF5 or NetCDF-4.
bool is_hdf5_name(const std::string& path);

}  // namespace ringweave::detail::inline io
