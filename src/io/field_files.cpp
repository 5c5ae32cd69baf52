// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/field_files.hpp"

#include <fmt/format.h>

#include <complex>
#include <variant>

#include "io/file_kind.hpp"
#include "io/fits/fields.hpp"
#include "io/hdf5/fields.hpp"
#include "ringweave/error.hpp"

namespace ringweave {

using namespace detail;

namespace {

/// Error  UsageError for a file that is neither HDF5 nor FITS; `what` begins its sentence.
bool is_hdf5(const std::string& path, const char* what) {
  const FileKind kind = file_kind(path);
  if (kind != FileKind::fits && kind != FileKind::hdf5)
    throw UsageError(fmt::format("{}: {} FITS (.fits) or HDF5 (.h5)", path, what));
  return kind == FileKind::hdf5;
}

}  // namespace

std::unique_ptr<MapReader> open_map(const Communicator& comm, const std::string& path) {
  return is_hdf5(path, "maps are read from") ? open_hdf5_map(comm, path)
                                             : open_fits_map(comm, path);
}

std::unique_ptr<AlmReader> open_alm(const Communicator& comm, const std::string& path) {
  return is_hdf5(path, "a_lm are read from") ? open_hdf5_alm(comm, path)
                                             : open_fits_alm(comm, path);
}

void detail::write_map(const AtomicOutput& output, const MapHeader& header,
                       const Provenance& provenance, const LocalRings& rings,
                       AnyConstMapView<> map) {
  const Communicator& comm = output.comm();
  const bool hdf5 = is_hdf5(output.path(), "maps are written as");
  const auto write = [&](auto view) {
    if (hdf5) return write_hdf5_map(comm, output.temporary_path(), header, provenance, rings, view);
    write_fits_map(comm, output.temporary_path(), header, provenance, rings, view);
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

void detail::write_alm(const AtomicOutput& output, const AlmHeader& header,
                       const Provenance& provenance, const AlmLayout& layout,
                       AnyConstAlmView<> alm) {
  const Communicator& comm = output.comm();
  const bool hdf5 = is_hdf5(output.path(), "a_lm are written as");
  const auto write = [&]<class T>(ComponentView<const std::complex<T>> view) {
    if (hdf5)
      return write_hdf5_alm<T>(comm, output.temporary_path(), header, provenance, layout, view);
    write_fits_alm<T>(comm, output.temporary_path(), header, provenance, layout, view);
  };
  std::visit(write, alm);
}

void write_alm(const Communicator& comm, const std::string& path, IfExists if_exists,
               const AlmHeader& header, const Provenance& provenance, const AlmLayout& layout,
               AnyConstAlmView<> alm) {
  AtomicOutput output(comm, path, if_exists);
  detail::write_alm(output, header, provenance, layout, alm);
  output.commit();
}

}  // namespace ringweave
