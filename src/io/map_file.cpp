// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <variant>

#include "io/atomic_output.hpp"
#include "io/file_kind.hpp"
#include "io/fits/map.hpp"
#include "io/hdf5/map.hpp"
#include "ringweave/files.hpp"

namespace ringweave {

using namespace detail;

std::unique_ptr<MapReader> open_map(const Communicator& comm, const std::string& path) {
  switch (file_kind(path)) {
    case FileKind::fits: return open_fits_map(comm, path);
    case FileKind::hdf5: return open_hdf5_map(comm, path);
    case FileKind::text:
    case FileKind::png: break;
  }
  throw UsageError(fmt::format("{}: maps are read from FITS (.fits) or HDF5 (.h5)", path));
}

void detail::write_map(const AtomicOutput& output, const MapHeader& header,
                       const Provenance& provenance, const LocalRings& rings,
                       AnyConstMapView<> map) {
  const Communicator& comm = output.comm();
  const std::string& path = output.path();
  const FileKind kind = file_kind(path);
  if (kind != FileKind::fits && kind != FileKind::hdf5) {
    throw UsageError(fmt::format("{}: maps are written as FITS (.fits) or HDF5 (.h5)", path));
  }
  const auto write = [&](auto view) {
    if (kind == FileKind::hdf5)
      return write_hdf5_map(comm, output.temporary_path(), header, provenance, rings, view);
    const FitsPacking packing = path.ends_with(".gz") ? FitsPacking::gzip : FitsPacking::plain;
    write_fits_map(comm, output.temporary_path(), header, provenance, rings, view, packing);
  };
  std::visit(write, map);
}

void write_map(const Communicator& comm, const std::string& path, IfExists if_exists,
               const MapHeader& header, const Provenance& provenance, const LocalRings& rings,
               AnyConstMapView<> map) {
  AtomicOutput output(comm, path, if_exists);
  detail::write_map(output, header, provenance, rings, map);
  output.commit();
}

}  // namespace ringweave
