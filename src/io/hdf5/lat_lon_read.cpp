// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <variant>
#include <vector>

#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "io/hdf5/lat_lon.hpp"
#include "io/hdf5/read_apart.hpp"
#include "io/header_json.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline io {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LatLonOrder, n_rows, n_columns, n_phi, first_ring, ring_step,
                                   first_pixel, pixel_step)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Hdf5LatLonInfo::Plane, variable, number, shape, scale, offset,
                                   holes, nan_is_hole)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Hdf5LatLonInfo, header, order, planes)

namespace {

class LatLonReader final : public MapReader {
 public:
  LatLonReader(const Communicator& comm, const std::string& path, const Hdf5LatLonInfo& info,
               const Hdf5Limits& limits)
      : comm_(comm), path_(path), limits_(limits), info_(info) {
    header_ = info_.header;
  }

  std::vector<RingId> observed_rings() override {
    std::vector<RingId> rings;
    const RingRange stored = info_.order.rings();
    for (std::int64_t r = stored.begin; r < stored.end; ++r) rings.push_back(RingId{r});
    return rings;
  }

  void read(std::span<const int> columns, const LocalRings& rings, AnyMapView<> map) override {
    std::visit([&](auto view) { read_columns(columns, rings, view); }, map);
  }

 private:
  template <class T>
  void read_columns(std::span<const int> columns, const LocalRings& rings, MapView<T> map) const {
    agree(comm_, [&] { check_request(columns, rings, map.n_components(), map.size()); });
    const std::vector<RingRows> calls = ring_rows(comm_, rings, info_.order.rings(), limits_);
    for (std::size_t c = 0; c < columns.size(); ++c) {
      T* component = map.component(static_cast<std::int64_t>(c)).data();
      if (header_.coverage == SkyCoverage::partial)
        std::fill_n(component, rings.n_pixels(), static_cast<T>(unseen));
      read_plane(info_.planes[to_size(columns[c])], calls, component);
    }
  }

  template <class T>
  void read_plane(const Hdf5LatLonInfo::Plane& plane, std::span<const RingRows> calls,
                  T* component) const {
    const LatLonOrder& order = info_.order;
    Hdf5TransferFile file(comm_, path_, Hdf5Access::read);
    const Hdf5Rows stored(file, plane.variable, plane.shape, Hdf5Axes::planes);
    std::vector<double> rows;
    for (const RingRows& call : calls) {
      const std::int64_t top = order.row_of(call.first_ring);
      const std::int64_t bottom = order.row_of(call.first_ring + call.count - 1);
      const RowRun run{std::min(top, bottom) * order.n_columns, call.count * order.n_columns};
      agree(comm_, [&] {
        rows.resize(to_size(run.count));
        stored.read(plane.number, std::span(&run, call.count > 0 ? 1 : 0), std::span(rows));
      });
      for (std::int64_t i = 0; i < call.count; ++i) {
        const std::int64_t row = order.row_of(call.first_ring + i) - std::min(top, bottom);
        place(plane, rows.data() + row * order.n_columns,
              component + call.first_local + i * order.n_phi);
      }
    }
    file.close();
  }

  /// Moves a row to the pixels of its ring.
  template <class T>
  void place(const Hdf5LatLonInfo::Plane& plane, const double* row, T* ring) const {
    for (std::int64_t pixel = 0; pixel < info_.order.n_phi; ++pixel) {
      const double value = row[info_.order.column_of(pixel)];
      const bool is_hole =
          std::isnan(value) ? plane.nan_is_hole
                            : is_unseen(value) || std::find(plane.holes.begin(), plane.holes.end(),
                                                            value) != plane.holes.end();
      ring[pixel] = static_cast<T>(is_hole ? unseen : plane.scale * value + plane.offset);
    }
  }

  void check_request(std::span<const int> columns, const LocalRings& rings,
                     std::int64_t n_components, std::int64_t n_pixels) const {
    if (rings.grid().kind() != header_.grid->kind() ||
        rings.grid().n_source_pixels() != header_.grid->n_pixels()) {
      throw UsageError(fmt::format("{}: its grid is {}, the rings asked for are of {}", path_,
                                   header_.grid->name(), rings.grid().name()));
    }
    if (n_components != ssize64(columns) || n_pixels < rings.n_pixels()) {
      throw UsageError(fmt::format(
          "{}: a map of {} components and {} pixels cannot take {} columns of {} pixels", path_,
          n_components, n_pixels, columns.size(), rings.n_pixels()));
    }
    for (const int column : columns) {
      if (column >= 0 && column < ssize64(header_.columns)) continue;
      throw UsageError(
          fmt::format("{}: has no column {}; it has {}", path_, column, header_.columns.size()));
    }
  }

  Communicator comm_;
  std::string path_;
  Hdf5Limits limits_;
  Hdf5LatLonInfo info_;
};

}  // namespace

std::vector<RingRows> ring_rows(const Communicator& comm, const LocalRings& rings, RingRange range,
                                const Hdf5Limits& limits) {
  std::vector<RingRows> calls;
  for (LocalRing ring{0}; index(ring) < rings.n_rings(); ring = LocalRing{index(ring) + 1}) {
    const std::int64_t n_phi = rings.ring(ring).n_phi;
    const std::int64_t number = rings.ring(ring).source_pixel / n_phi;
    if (!range.contains(number)) continue;
    const std::int64_t most = std::max<std::int64_t>(1, limits.numbers_per_call / n_phi);
    if (calls.empty() || calls.back().count == most ||
        calls.back().first_ring + calls.back().count != number)
      calls.push_back({number, 0, rings.first_pixel(ring)});
    ++calls.back().count;
  }
  calls.resize(to_size(comm.max(ssize64(calls))));
  return calls;
}

std::unique_ptr<MapReader> open_hdf5_lat_lon(const Communicator& comm, const std::string& path,
                                             const std::string& variable,
                                             const Hdf5Limits& limits) {
  const std::optional<Hdf5LatLonInfo> info = share_from_root(
      comm, [&] { return read_apart(path, [&] { return find_hdf5_lat_lon(path, variable); }); });
  return info ? std::make_unique<LatLonReader>(comm, path, *info, limits) : nullptr;
}

}  // namespace ringweave::detail::inline io
