// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "io/hdf5/fields.hpp"
#include "io/hdf5/map_header.hpp"
#include "io/hdf5/rows.hpp"
#include "io/pixel_owners.hpp"
#include "io/row_redistribution.hpp"
#include "ringweave/error.hpp"
#include "ringweave/files.hpp"

namespace ringweave::detail::inline io {
namespace {

template <class T>
void check_shapes(const std::string& path, const MapHeader& header, const LocalRings& rings,
                  MapView<const T> map) {
  if (!header.grid || header.grid->is_subset() ||
      rings.grid().n_source_pixels() != header.grid->n_pixels()) {
    throw UsageError(fmt::format(
        "{}: the header's grid must be the full grid that the map's rings are of", path));
  }
  if (header.columns.empty() || map.n_components() != ssize64(header.columns) ||
      map.size() < rings.n_pixels()) {
    throw UsageError(fmt::format(
        "{}: a map of {} components and {} pixels does not fill {} columns of {} pixels", path,
        map.n_components(), map.size(), header.columns.size(), rings.n_pixels()));
  }
}

/// Writes all pixels and closes the file.
template <class T>
void write_slabs(const Communicator& comm, Hdf5TransferFile& file, const Hdf5Rows& rows,
                 const PixelBlocks& pixels, MapView<const T> map, const Hdf5Limits& limits) {
  const std::vector<SlabCall> calls = slab_calls(comm, pixels.owned(), limits);
  const std::int64_t n_writes = map.n_components() * ssize64(calls);
  const auto write = [&](std::int64_t i) {
    const std::int64_t component = i / ssize64(calls);
    const SlabCall& call = calls[to_size(i % ssize64(calls))];
    const T* const first = map.component(component).data() + call.first_local;
    rows.write(component, call.runs, std::span<const T>(first, to_size(call.count)));
  };
  for (std::int64_t i = 0; i + 1 < n_writes; ++i) agree(comm, [&] { write(i); });
  file.close([&] {
    if (n_writes > 0) write(n_writes - 1);
  });
}

/// The pixels of one share of a window, in file order.
struct Share {
  std::vector<int> owner;
  std::vector<double> values;  ///< [pixel][component]; UNSEEN where no rank owns the pixel
};

template <class T>
Share fetch_share(const Communicator& comm, const PixelBlocks& pixels, const PixelOwners& owners,
                  RowRun run, MapView<const T> map) {
  const std::int64_t width = map.n_components();
  Share share;
  std::vector<std::int64_t> key;
  agree(comm, [&] {
    for (std::int64_t i = 0; i < run.count; ++i) {
      key.push_back(pixels.order().to_ring(run.first + i));
      share.owner.push_back(owners.owner(key.back()));
    }
    share.values.assign(to_size(run.count * width), unseen);
  });
  const RowRedistribution route(comm, share.owner, key);
  std::vector<double> mine;
  for (const std::int64_t pixel : route.keys()) {
    const std::int64_t local = pixels.local_pixel(pixel);
    for (std::int64_t c = 0; c < width; ++c)
      mine.push_back(static_cast<double>(map.component(c)[local]));
  }
  route.to_share(mine, width, share.values);
  return share;
}

/// Drops the pixels in which every component is UNSEEN; returns the numbers of the others.
std::vector<std::int64_t> keep_observed(Share& share, std::int64_t first, std::int64_t width) {
  std::vector<std::int64_t> kept;
  for (std::size_t i = 0; i < share.owner.size(); ++i) {
    const auto pixel = share.values.begin() + static_cast<std::ptrdiff_t>(i) * width;
    if (std::all_of(pixel, pixel + width, is_unseen)) continue;
    std::copy_n(pixel, width, share.values.begin() + ssize64(kept) * width);
    kept.push_back(first + static_cast<std::int64_t>(i));
  }
  return kept;
}

/// Returns the rows of the file that a pixel list may name: in RING order from the first to the
/// last owned ring, otherwise all.
RowRun rows_with_pixels(const Communicator& comm, const PixelBlocks& pixels,
                        const LocalRings& rings, Ordering ordering) {
  if (ordering == Ordering::nested) return {0, pixels.n_rows()};
  std::int64_t begin = pixels.n_rows();
  std::int64_t end = 0;
  for (std::int64_t r = 0; r < rings.n_rings(); ++r) {
    const Ring& ring = rings.ring(LocalRing{r});
    begin = std::min(begin, ring.source_pixel);
    end = std::max(end, ring.source_pixel + ring.n_phi);
  }
  begin = comm.min(begin);
  return {begin, std::max<std::int64_t>(0, comm.max(end) - begin)};
}

template <class T>
void write_windows(const Communicator& comm, const Hdf5Rows& rows, const Hdf5Rows* list, RowRun all,
                   const PixelBlocks& pixels, const LocalRings& rings, MapView<const T> map,
                   const Hdf5Limits& limits) {
  const std::int64_t width = map.n_components();
  const PixelOwners owners(comm, rings);
  const RowWindows windows(all.first, all.first + all.count, limits.numbers_per_call / width,
                           comm.size(), width);
  std::int64_t written = 0;
  for (std::int64_t w = 0; w < windows.count(); ++w) {
    const RowRun run{windows.first(w, comm.rank()), windows.rows(w, comm.rank())};
    Share share = fetch_share(comm, pixels, owners, run, map);
    if (list == nullptr) {
      rows.write_together(width, run, share.values);
      continue;
    }
    const std::vector<std::int64_t> listed = keep_observed(share, run.first, width);
    const std::vector<std::int64_t> counts = comm.all_gather(ssize64(listed));
    const RowRun slot{std::accumulate(counts.begin(), counts.begin() + comm.rank(), written),
                      ssize64(listed)};
    agree(comm,
          [&] { list->write(0, std::span(&slot, 1), std::span<const std::int64_t>(listed)); });
    rows.write_together(width, slot, share.values);
    written = std::accumulate(counts.begin(), counts.end(), written);
  }
}

}  // namespace

template <class T>
void write_hdf5_map(const Communicator& comm, const std::string& path, const MapHeader& header,
                    const Provenance& provenance, const LocalRings& rings, MapView<const T> map,
                    const Hdf5Limits& limits) {
  const bool partial = header.coverage == SkyCoverage::partial;
  MapHeader stored = header;
  std::optional<PixelBlocks> blocks;
  const auto create = [&] {
    if (comm.is_root()) create_hdf5_map(path, stored, provenance);
  };
  agree(comm, [&] {
    check_shapes(path, header, rings, map);
    blocks.emplace(rings, header.ordering);
    if (!partial) create();
  });
  if (partial) {
    stored.listed_pixels = comm.sum(count_observed(map, rings.n_pixels()));
    agree(comm, [&] {
      if (stored.listed_pixels == 0) {
        throw UsageError(
            fmt::format("{}: no pixel is observed, so a partial map would be empty", path));
      }
      create();
    });
  }
  const PixelBlocks& pixels = *blocks;

  Hdf5TransferFile file(comm, path, Hdf5Access::write);
  {
    const std::int64_t length = partial ? stored.listed_pixels : header.grid->n_pixels();
    const std::int64_t bytes = header.precision == Precision::single_ ? 4 : 8;
    const Hdf5Rows rows(file, partial ? hdf5_partial_map : hdf5_full_map,
                        {{map.n_components(), length}, Hdf5Shape::Number::real, bytes, {}});
    if (partial) {
      const Hdf5Rows list(file, hdf5_partial_pixel, {{length}, Hdf5Shape::Number::integer, 8, {}});
      write_windows(comm, rows, &list, rows_with_pixels(comm, pixels, rings, header.ordering),
                    pixels, rings, map, limits);
    } else if (header.ordering == Ordering::nested || rings.grid().is_subset()) {
      write_windows(comm, rows, nullptr, {0, pixels.n_rows()}, pixels, rings, map, limits);
    } else {
      return write_slabs(comm, file, rows, pixels, map, limits);
    }
  }
  file.close();
}

template void write_hdf5_map(const Communicator&, const std::string&, const MapHeader&,
                             const Provenance&, const LocalRings&, MapView<const double>,
                             const Hdf5Limits&);
template void write_hdf5_map(const Communicator&, const std::string&, const MapHeader&,
                             const Provenance&, const LocalRings&, MapView<const float>,
                             const Hdf5Limits&);

}  // namespace ringweave::detail::inline io
