// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/content.hpp"

#include <fmt/format.h>

#include "distribute/exchange/order_distribution.hpp"
#include "distribute/mpi/agree.hpp"
#include "distribute/ring_distribution.hpp"
#include "io/file_kind.hpp"
#include "io/input_file.hpp"
#include "ringweave/error.hpp"
#include "ringweave/files.hpp"

namespace ringweave::detail::inline app {
namespace {

/// Returns the first table where it says that it holds a beam, a pixel window or weights.
/// Collective.
std::optional<TableHead> special_table(const Communicator& comm, const std::string& path) {
  try {
    const TableHead head = first_table(comm, path);
    if (head.kind == TableKind::beam || head.kind == TableKind::pixel_window ||
        head.kind == TableKind::ring_weights || head.kind == TableKind::pixel_weights)
      return head;
  } catch (const DataError&) {
    // Reading spectra will say what is wrong.
  }
  return std::nullopt;
}

}  // namespace

Content open_content(const Communicator& comm, const std::string& path, SpectrumKind kind,
                     const std::string& variable) {
  agree(comm, [&] {
    if (comm.is_root()) check_input_file(path);
  });
  Content content;
  if (file_kind(path) == FileKind::text) {
    content.spectra = read_spectra(comm, path, kind);
    return content;
  }
  if (file_kind(path) == FileKind::coefficients) {
    content.alm = open_alm(comm, path);
    return content;
  }
  if (file_kind(path) == FileKind::netcdf) {
    content.map = open_map(comm, path, variable);
    return content;
  }
  std::string reasons;
  // Readers agree on errors, so every rank takes the same branch.
  const auto attempt = [&](const char* what, auto&& open) {
    try {
      open();
      return true;
    } catch (const DataError& error) {
      reasons += std::string("\n  as ") + what + ": " + error.what();
      return false;
    }
  };
  if (attempt("a map", [&] { content.map = open_map(comm, path, variable); })) return content;
  if (attempt("a_lm", [&] { content.alm = open_alm(comm, path); })) return content;
  content.table = special_table(comm, path);
  if (content.table) return content;
  if (attempt("spectra", [&] { content.spectra = read_spectra(comm, path, kind); })) return content;
  throw DataError(path, "holds nothing this program reads" + reasons);
}

void refuse_table(const std::string& path, const Content& content) {
  if (!content.table) return;
  throw DataError(path, fmt::format("holds {}; expected a map, a_lm or spectra",
                                    words_of(content.table->kind)));
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
