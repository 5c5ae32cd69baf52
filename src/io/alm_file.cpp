// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <complex>
#include <variant>

#include "io/atomic_output.hpp"
#include "io/file_kind.hpp"
#include "io/fits/alm.hpp"
#include "io/hdf5/alm.hpp"
#include "ringweave/files.hpp"

namespace ringweave {

using namespace detail;

std::unique_ptr<AlmReader> open_alm(const Communicator& comm, const std::string& path) {
  switch (file_kind(path)) {
    case FileKind::fits: return open_fits_alm(comm, path);
    case FileKind::hdf5: return open_hdf5_alm(comm, path);
    case FileKind::text:
    case FileKind::png: break;
  }
  throw UsageError(fmt::format("{}: a_lm are read from FITS (.fits) or HDF5 (.h5)", path));
}

void detail::write_alm(const AtomicOutput& output, const AlmHeader& header,
                       const Provenance& provenance, const AlmLayout& layout,
                       AnyConstAlmView<> alm) {
  const Communicator& comm = output.comm();
  const std::string& path = output.path();
  const FileKind kind = file_kind(path);
  if (kind != FileKind::fits && kind != FileKind::hdf5) {
    throw UsageError(fmt::format("{}: a_lm are written as FITS (.fits) or HDF5 (.h5)", path));
  }
  const auto write = [&]<class T>(ComponentView<const std::complex<T>> view) {
    if (kind == FileKind::hdf5)
      return write_hdf5_alm<T>(comm, output.temporary_path(), header, provenance, layout, view);
    const FitsPacking packing = path.ends_with(".gz") ? FitsPacking::gzip : FitsPacking::plain;
    write_fits_alm<T>(comm, output.temporary_path(), header, provenance, layout, view, packing);
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
