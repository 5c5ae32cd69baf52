// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/field_files.hpp"

#include <fmt/format.h>

#include <complex>
#include <variant>

#include "io/coefficient_file.hpp"
#include "io/file_kind.hpp"
#include "io/fits/fields.hpp"
#include "io/hdf5/fields.hpp"
#include "io/hdf5/lat_lon.hpp"
#include "ringweave/error.hpp"

namespace ringweave {

using namespace detail;

namespace {

/// Throws a UsageError for a kind of file that holds no maps, or no a_lm.
[[noreturn]] void refuse_kind(const std::string& path, const char* what, const char* kinds) {
  throw UsageError(fmt::format("{}: {} {}", path, what, kinds));
}

constexpr const char* map_kinds = "FITS (.fits), HDF5 (.h5) or NetCDF-4 (.nc)";
constexpr const char* alm_kinds = "FITS (.fits), HDF5 (.h5) or ICGEM (.gfc)";

}  // namespace

std::unique_ptr<MapReader> open_map(const Communicator& comm, const std::string& path,
                                    const std::string& variable) {
  const FileKind kind = file_kind(path);
  if (kind == FileKind::hdf5 || kind == FileKind::netcdf)
    return open_hdf5_map(comm, path, {}, variable);
  if (kind != FileKind::fits) refuse_kind(path, "maps are read from", map_kinds);
  if (!variable.empty()) {
    throw UsageError(fmt::format(
        "{}: --variable chooses in HDF5 and NetCDF files; FITS maps have columns, see --fields",
        path));
  }
  return open_fits_map(comm, path);
}

std::unique_ptr<AlmReader> open_alm(const Communicator& comm, const std::string& path) {
  switch (file_kind(path)) {
    case FileKind::fits: return open_fits_alm(comm, path);
    case FileKind::hdf5: return open_hdf5_alm(comm, path);
    case FileKind::coefficients: return open_coefficients(comm, path, Normalisation::four_pi);
    default: refuse_kind(path, "a_lm are read from", alm_kinds);
  }
}

void detail::require_map_file(const std::string& path, const RingGrid& grid) {
  try {
    if (file_kind(path) == FileKind::fits) require_fits_grid(grid);
    if (file_kind(path) == FileKind::netcdf) require_lat_lon_grid(grid);
  } catch (const UsageError& error) {
    throw UsageError(path + ": " + error.what());
  }
}

void detail::write_map(const AtomicOutput& output, const MapHeader& header,
                       const Provenance& provenance, const LocalRings& rings,
                       AnyConstMapView<> map) {
  const Communicator& comm = output.comm();
  const std::string& path = output.temporary_path();
  const auto write = [&](auto view) {
    switch (file_kind(output.path())) {
      case FileKind::fits: return write_fits_map(comm, path, header, provenance, rings, view);
      case FileKind::hdf5: return write_hdf5_map(comm, path, header, provenance, rings, view);
      case FileKind::netcdf: return write_hdf5_lat_lon(comm, path, header, provenance, rings, view);
      default: refuse_kind(output.path(), "maps are written as", map_kinds);
    }
  };
  output.write([&] { std::visit(write, map); });
}

void write_map(const Communicator& comm, const std::string& path, IfExists if_exists,
               const MapHeader& header, const Provenance& provenance, const LocalRings& rings,
               AnyConstMapView<> map) {
  AtomicOutput output(comm, path, if_exists);
  detail::write_map(output, header, provenance, rings, map);
  output.commit();
}

void detail::write_alm(const AtomicOutput& output, const AlmHeader& header,
                       const Provenance& provenance, const AlmLayout& layout,
                       AnyConstAlmView<> alm) {
  const Communicator& comm = output.comm();
  const std::string& path = output.temporary_path();
  const auto write = [&]<class T>(ComponentView<const std::complex<T>> view) {
    switch (file_kind(output.path())) {
      case FileKind::fits: return write_fits_alm<T>(comm, path, header, provenance, layout, view);
      case FileKind::hdf5: return write_hdf5_alm<T>(comm, path, header, provenance, layout, view);
      case FileKind::coefficients:
        return write_coefficients(output, header, provenance, layout, AnyConstAlmView<>(view),
                                  Normalisation::four_pi);
      default: refuse_kind(output.path(), "a_lm are written as", alm_kinds);
    }
  };
  output.write([&] { std::visit(write, alm); });
}

void write_alm(const Communicator& comm, const std::string& path, IfExists if_exists,
               const AlmHeader& header, const Provenance& provenance, const AlmLayout& layout,
               AnyConstAlmView<> alm) {
  AtomicOutput output(comm, path, if_exists);
  detail::write_alm(output, header, provenance, layout, alm);
  output.commit();
}

}  // namespace ringweave
