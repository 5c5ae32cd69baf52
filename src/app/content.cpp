// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/content.hpp"

#include <fmt/format.h>

#include <set>

#include "distribute/exchange/order_distribution.hpp"
#include "distribute/mpi/agree.hpp"
#include "distribute/ring_distribution.hpp"
#include "io/file_kind.hpp"
#include "io/hdf5/plane.hpp"
#include "io/input_file.hpp"
#include "ringweave/error.hpp"
#include "ringweave/files.hpp"

namespace ringweave::detail::inline app {
namespace {

bool is_special(const TableHead& head) {
  return head.kind == TableKind::beam || head.kind == TableKind::pixel_window ||
         head.kind == TableKind::ring_weights || head.kind == TableKind::pixel_weights;
}

/// Returns the tables that say that they hold beams, pixel windows or weights, where the first
/// does. Collective.
std::vector<TableHead> special_tables(const Communicator& comm, const std::string& path) {
  try {
    std::vector<TableHead> heads = table_heads(comm, path);
    if (heads.empty() || !is_special(heads.front())) return {};
    std::erase_if(heads, [](const TableHead& head) { return !is_special(head); });
    return heads;
  } catch (const DataError&) {
    return {};  // reading spectra says what is wrong
  }
}

/// Returns the data sets of fields in the plane of an HDF5 or NetCDF-4 file. Collective.
std::vector<std::string> planes_of(const Communicator& comm, const std::string& path) {
  const FileKind kind = file_kind(path);
  if (kind != FileKind::hdf5 && kind != FileKind::netcdf) return {};
  try {
    return find_plane_content(comm, path).fields;
  } catch (const DataError&) {
    return {};  // opening it as something else says what is wrong
  }
}

}  // namespace

Content open_content(const Communicator& comm, const std::string& path, SpectrumKind kind,
                     const std::string& variable) {
  agree(comm, [&] {
    if (comm.is_root()) check_input_file(path);
  });
  Content content;
  if (file_kind(path) == FileKind::text) {
    try {
      content.spectra = read_spectra(comm, path, kind);
    } catch (const DataError&) {
      content.tables = special_tables(comm, path);
      if (content.tables.empty()) throw;
    }
    return content;
  }
  if (file_kind(path) == FileKind::coefficients) {
    content.alm = open_alm(comm, path);
    return content;
  }
  content.planes = planes_of(comm, path);
  if (!content.planes.empty()) return content;
  if (file_kind(path) == FileKind::netcdf) {
    content.map = open_map(comm, path, variable);
    return content;
  }
  std::string reasons;
  std::set<std::string> different;
  // Readers agree on errors, so every rank takes the same branch.
  const auto attempt = [&](const char* what, auto&& open) {
    try {
      open();
      return true;
    } catch (const DataError& error) {
      reasons += std::string("\n  as ") + what + ": " + error.what();
      different.insert(error.what());
      return false;
    }
  };
  if (attempt("a map", [&] { content.map = open_map(comm, path, variable); })) return content;
  if (attempt("a_lm", [&] { content.alm = open_alm(comm, path); })) return content;
  content.tables = special_tables(comm, path);
  if (!content.tables.empty()) return content;
  if (attempt("spectra", [&] { content.spectra = read_spectra(comm, path, kind); })) return content;
  if (different.size() == 1) throw DataError("", *different.begin());
  throw DataError(path, "holds nothing this program reads" + reasons);
}

Content open_map_or_alm(const Communicator& comm, const std::string& path,
                        const std::string& variable) {
  Content content;
  if (file_kind(path) == FileKind::coefficients) {
    content.alm = open_alm(comm, path);
    return content;
  }
  try {
    content.map = open_map(comm, path, variable);
  } catch (const DataError&) {
    if (file_kind(path) == FileKind::netcdf) throw;
    try {
      content.alm = open_alm(comm, path);
    } catch (const DataError&) {
      // The reason why it is no map is thrown.
    }
    if (content.alm == nullptr) throw;
  }
  return content;
}

void refuse_table(const std::string& path, const Content& content) {
  if (!content.planes.empty())
    throw DataError(path, "holds fields in the plane; expected a map, a_lm or spectra");
  if (content.tables.empty()) return;
  throw DataError(path, fmt::format("holds {}; expected a map, a_lm or spectra",
                                    words_of(content.tables.front().kind)));
}

LocalRings bands_of_pixels(const Communicator& comm, const std::shared_ptr<const RingGrid>& grid) {
  const ModeLimits no_modes(*grid, 0, 0, 0);
  return RingDistribution(grid, no_modes, comm.size()).rings(comm.rank());
}

AlmLayout own_orders(const Communicator& comm, int lmax, int mmax) {
  const RingGrid no_grid = RingGrid::healpix(1);
  const ModeLimits limits(no_grid, lmax, mmax, 0);
  const OrderDistribution orders(limits, FoldRule{}, comm.size());
  const auto mine = orders.orders(comm.rank());
  return {lmax, mmax, {mine.begin(), mine.end()}};
}

}  // namespace ringweave::detail::inline app
