// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/file_kind.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "ringweave/error.hpp"

namespace ringweave::detail::inline io {
namespace {

std::optional<FileKind> known_kind(const std::string& path) {
  constexpr std::array<std::pair<std::string_view, FileKind>, 14> kinds{{
      {".fits", FileKind::fits},
      {".fit", FileKind::fits},
      {".fits.gz", FileKind::fits},
      {".h5", FileKind::hdf5},
      {".hdf5", FileKind::hdf5},
      {".nc", FileKind::netcdf},
      {".nc4", FileKind::netcdf},
      {".gfc", FileKind::coefficients},
      {".txt", FileKind::text},
      {".dat", FileKind::text},
      {".tsv", FileKind::text},
      {".png", FileKind::picture},
      {".pdf", FileKind::picture},
      {".svg", FileKind::picture},
  }};
  for (const auto& [extension, kind] : kinds) {
    if (path.size() > extension.size() && path.ends_with(extension)) return kind;
  }
  return std::nullopt;
}

}  // namespace

bool is_hdf5_name(const std::string& path) {
  const std::optional<FileKind> kind = known_kind(path);
  return kind == FileKind::hdf5 || kind == FileKind::netcdf;
}

FileKind file_kind(const std::string& path) {
  if (const std::optional<FileKind> kind = known_kind(path)) return *kind;
  throw UsageError(
      fmt::format("{}: the kind of file goes by its extension, and this one is not known; use "
                  ".fits .fit .fits.gz (FITS), "
                  ".h5 .hdf5 (HDF5), .nc .nc4 (NetCDF-4), .gfc (ICGEM), .txt .dat .tsv (text) or "
                  ".png .pdf .svg (picture)",
                  path));
}

}  // namespace ringweave::detail::inline io
