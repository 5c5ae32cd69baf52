// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <variant>
#include <vector>

#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "io/hdf5/fields.hpp"
#include "io/hdf5/lat_lon.hpp"
#include "io/hdf5/map_header.hpp"
#include "io/hdf5/rows.hpp"
#include "io/pixel_owners.hpp"
#include "io/row_redistribution.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline io {
namespace {

class Hdf5MapReader final : public MapReader {
 public:
  Hdf5MapReader(const Communicator& comm, const std::string& path, const Hdf5Limits& limits)
      : comm_(comm), path_(path), limits_(limits), info_(share_hdf5_map_info(comm, path)) {
    header_ = info_.header;
  }

  std::vector<RingId> observed_rings() override;
  void read(std::span<const int> columns, const LocalRings& rings, AnyMapView<> map) override {
    std::visit([&](auto view) { read_columns(columns, rings, view); }, map);
  }

 private:
  template <class T>
  void read_columns(std::span<const int> columns, const LocalRings& rings, MapView<T> map) const;
  template <class T>
  void read_slabs(std::span<const int> columns, const LocalRings& rings, MapView<T> map) const;
  template <class T>
  void read_windows(std::span<const int> columns, const LocalRings& rings, MapView<T> map) const;
  template <class T>
  void adopt_conventions(std::span<const int> columns, const LocalRings& rings,
                         MapView<T> map) const;
  template <class T>
  void hide_unwritten(const LocalRings& rings, View<T> component) const;
  template <class T>
  void check_shapes(std::span<const int> columns, const LocalRings& rings, MapView<T> map) const;
  std::vector<std::int64_t> listed_pixels(const Hdf5Rows& pixel, std::int64_t first,
                                          std::int64_t count) const;
  bool is_partial() const { return header_.coverage == SkyCoverage::partial; }

  Communicator comm_;
  std::string path_;
  Hdf5Limits limits_;
  Hdf5MapInfo info_;
};

template <class T>
void Hdf5MapReader::check_shapes(std::span<const int> columns, const LocalRings& rings,
                                 MapView<T> map) const {
  if (rings.grid().n_source_pixels() != header_.grid->n_pixels()) {
    throw UsageError(fmt::format("{}: its grid is {}, the rings asked for are of {}", path_,
                                 header_.grid->name(), rings.grid().name()));
  }
  if (map.n_components() != ssize64(columns) || map.size() < rings.n_pixels()) {
    throw UsageError(
        fmt::format("{}: a map of {} components and {} pixels cannot take {} columns of {} pixels",
                    path_, map.n_components(), map.size(), columns.size(), rings.n_pixels()));
  }
  for (const int column : columns) {
    if (column < 0 || column >= ssize64(header_.columns)) {
      throw UsageError(
          fmt::format("{}: has no column {}; it has {}", path_, column, header_.columns.size()));
    }
  }
}

template <class T>
void Hdf5MapReader::read_columns(std::span<const int> columns, const LocalRings& rings,
                                 MapView<T> map) const {
  agree(comm_, [&] { check_shapes(columns, rings, map); });
  if (!is_partial() && header_.ordering == Ordering::ring) {
    read_slabs(columns, rings, map);
  } else {
    read_windows(columns, rings, map);
  }
  adopt_conventions(columns, rings, map);
}

template <class T>
void Hdf5MapReader::read_slabs(std::span<const int> columns, const LocalRings& rings,
                               MapView<T> map) const {
  const PixelBlocks pixels(rings, Ordering::ring);
  const std::vector<SlabCall> calls = slab_calls(comm_, pixels.owned(), limits_);
  Hdf5TransferFile file(comm_, path_, Hdf5Access::read);
  const Hdf5Rows rows(file, hdf5_full_map, info_.values);
  // Columns of few pixels go together, because ranks agree after each call.
  const std::int64_t longest = comm_.max(calls.empty() ? 0 : calls.front().count);
  const std::int64_t together =
      calls.size() > 1 ? 1 : std::max<std::int64_t>(1, limits_.numbers_per_call / (longest + 1));
  for (std::int64_t first = 0; first < ssize64(columns); first += together) {
    const std::int64_t end = std::min(first + together, ssize64(columns));
    for (const SlabCall& call : calls) {
      agree(comm_, [&] {
        for (std::int64_t c = first; c < end; ++c) {
          rows.read(columns[to_size(c)], call.runs,
                    std::span<T>(map.component(c).data() + call.first_local, to_size(call.count)));
        }
      });
    }
  }
  file.close();
}

/// Returns the rows [first, first + count) of a pixel list, checked to be on the sky and to ascend
/// from the row before `first` on.
std::vector<std::int64_t> Hdf5MapReader::listed_pixels(const Hdf5Rows& pixel, std::int64_t first,
                                                       std::int64_t count) const {
  const std::int64_t before = first > 0 && count > 0 ? 1 : 0;
  const RowRun run{first - before, count + before};
  std::vector<std::int64_t> list(to_size(run.count));
  pixel.read(0, std::span(&run, 1), std::span(list));
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i] < 0 || list[i] >= header_.grid->n_pixels()) {
      throw DataError(path_, fmt::format("/partial/pixel[{}] = {}; expected 0 to {}",
                                         run.first + static_cast<std::int64_t>(i), list[i],
                                         header_.grid->n_pixels() - 1));
    }
    if (i > 0 && list[i] <= list[i - 1]) {
      throw DataError(path_,
                      fmt::format("/partial/pixel[{}] = {} after {}; the list must ascend strictly",
                                  run.first + static_cast<std::int64_t>(i), list[i], list[i - 1]));
    }
  }
  list.erase(list.begin(), list.begin() + before);
  return list;
}

template <class T>
void Hdf5MapReader::read_windows(std::span<const int> columns, const LocalRings& rings,
                                 MapView<T> map) const {
  const std::int64_t width = ssize64(columns);
  const PixelBlocks pixels(rings, header_.ordering);
  const PixelOwners owners(comm_, rings);
  Hdf5TransferFile file(comm_, path_, Hdf5Access::read);
  const Hdf5Rows rows(file, is_partial() ? hdf5_partial_map : hdf5_full_map, info_.values);
  std::optional<Hdf5Rows> list;
  if (is_partial()) list.emplace(file, hdf5_partial_pixel, *info_.pixel);

  for (std::int64_t c = 0; c < width; ++c) {
    std::fill_n(map.component(c).data(), rings.n_pixels(), static_cast<T>(unseen));
  }
  const RowWindows windows(0, info_.values.dims.back(),
                           limits_.numbers_per_call / std::max<std::int64_t>(1, width),
                           comm_.size(), width);
  for (std::int64_t w = 0; w < windows.count(); ++w) {
    const RowRun run{windows.first(w, comm_.rank()), windows.rows(w, comm_.rank())};
    std::vector<std::int64_t> key;
    std::vector<int> owner;
    agree(comm_, [&] {
      if (list) key = listed_pixels(*list, run.first, run.count);
    });
    const std::vector<double> share = rows.read_together(columns, run);
    agree(comm_, [&] {
      for (std::int64_t i = 0; i < run.count; ++i) {
        if (!list) key.push_back(run.first + i);
        key[to_size(i)] = pixels.order().to_ring(key[to_size(i)]);
        owner.push_back(owners.owner(key[to_size(i)]));
      }
    });
    const RowRedistribution route(comm_, owner, key);
    const std::vector<double> mine = route.to_owners(share, width);
    for (std::size_t k = 0; k < route.keys().size(); ++k) {
      const std::int64_t local = pixels.local_pixel(route.keys()[k]);
      for (std::int64_t c = 0; c < width; ++c) {
        map.component(c)[local] = static_cast<T>(mine[k * to_size(width) + to_size(c)]);
      }
    }
  }
  file.close();
}

template <class T>
void Hdf5MapReader::hide_unwritten(const LocalRings& rings, View<T> component) const {
  const PixelBlocks pixels(rings, header_.ordering);
  for (const PixelRun& run : pixels.owned()) {
    for (std::int64_t i = 0; i < run.count; ++i) {
      if (info_.unwritten.contains(pixels.order().from_ring(run.first + i)))
        component[run.local + i] = static_cast<T>(unseen);
    }
  }
}

template <class T>
void Hdf5MapReader::adopt_conventions(std::span<const int> columns, const LocalRings& rings,
                                      MapView<T> map) const {
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const View<T> component = map.component(static_cast<std::int64_t>(c));
    if (info_.bad_data) {
      const T bad = static_cast<T>(*info_.bad_data);
      std::replace(component.data(), component.data() + rings.n_pixels(), bad,
                   static_cast<T>(unseen));
    }
    if (!info_.unwritten.numbers.empty()) hide_unwritten(rings, component);
    if (columns[c] != info_.flipped_column) continue;
    for (std::int64_t i = 0; i < rings.n_pixels(); ++i) {
      if (!is_unseen(static_cast<double>(component[i]))) component[i] = -component[i];
    }
  }
}

std::vector<RingId> Hdf5MapReader::observed_rings() {
  const RingGrid& grid = *header_.grid;
  std::vector<double> listed(to_size(grid.n_rings()), is_partial() ? 0.0 : 1.0);
  if (is_partial()) {
    const PixelOrder order(grid, header_.ordering);
    Hdf5TransferFile file(comm_, path_, Hdf5Access::read);
    const Hdf5Rows list(file, hdf5_partial_pixel, *info_.pixel);
    const RowWindows windows(0, header_.listed_pixels, limits_.numbers_per_call, comm_.size(), 1);
    for (std::int64_t w = 0; w < windows.count(); ++w) {
      agree(comm_, [&] {
        for (const std::int64_t pixel :
             listed_pixels(list, windows.first(w, comm_.rank()), windows.rows(w, comm_.rank()))) {
          listed[to_size(index(grid.ring_of_pixel(order.to_ring(pixel))))] = 1;
        }
      });
    }
    file.close();
    comm_.sum(listed.data(), grid.n_rings());
  }
  std::vector<RingId> rings;
  for (std::int64_t r = 0; r < grid.n_rings(); ++r) {
    if (listed[to_size(r)] > 0) rings.push_back(RingId{r});
  }
  return rings;
}

}  // namespace

std::unique_ptr<MapReader> open_hdf5_map(const Communicator& comm, const std::string& path,
                                         const Hdf5Limits& limits, const std::string& variable) {
  if (auto reader = open_hdf5_lat_lon(comm, path, variable, limits)) return reader;
  return std::make_unique<Hdf5MapReader>(comm, path, limits);
}

}  // namespace ringweave::detail::inline io
