// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <numbers>
#include <vector>

#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/dimensions.hpp"
#include "io/hdf5/lat_lon.hpp"
#include "io/hdf5/map_header.hpp"
#include "io/unit_name.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline io {
namespace {

template <class T>
void check_rectangle(const std::string& path, const MapHeader& header, const LocalRings& rings,
                     MapView<const T> map) {
  const RingGrid& grid = *header.grid;
  require_lat_lon_grid(grid);
  if (rings.grid().n_source_pixels() != grid.n_pixels() || header.columns.empty() ||
      map.n_components() != ssize64(header.columns) || map.size() < rings.n_pixels()) {
    throw UsageError(
        fmt::format("{}: a map of {} components and {} pixels does not fill {} columns on {}", path,
                    map.n_components(), map.size(), header.columns.size(), grid.name()));
  }
}

/// Returns names for the variables: those of the columns without characters that NetCDF does not
/// take, each once.
std::vector<std::string> variable_names(const MapHeader& header) {
  std::vector<std::string> names{"lat", "lon"};
  for (std::size_t c = 0; c < header.columns.size(); ++c) {
    std::string name = header.columns[c].name;
    std::replace_if(
        name.begin(), name.end(), [](char letter) { return letter <= ' ' || letter == '/'; }, '_');
    if (name.empty() || std::find(names.begin(), names.end(), name) != names.end())
      name = fmt::format("COLUMN_{}", c + 1);
    names.push_back(name);
  }
  names.erase(names.begin(), names.begin() + 2);
  return names;
}

Hdf5Handle write_coordinate(const Hdf5Handle& file, const std::string& path, const char* name,
                            const std::vector<double>& values) {
  Hdf5Handle scale =
      write_small_dataset(file, path, name, H5T_IEEE_F64LE, {ssize64(values)}, values.data());
  const bool is_latitude = name[1] == 'a';
  make_hdf5_scale(scale, path, name);
  const Hdf5AttributeWriter attributes(scale, path);
  attributes.text("standard_name", is_latitude ? "latitude" : "longitude");
  attributes.text("long_name", is_latitude ? "latitude" : "longitude");
  attributes.text("units", is_latitude ? "degrees_north" : "degrees_east");
  attributes.text("axis", is_latitude ? "Y" : "X");
  return scale;
}

void write_attributes(const Hdf5Handle& dataset, const std::string& path, const MapHeader& header,
                      const MapColumn& column, const Provenance& provenance) {
  const Hdf5AttributeWriter attributes(dataset, path);
  attributes.text("long_name", column.name);
  if (!column.unit.empty()) {
    const std::string unit = astropy_unit(column.unit);
    attributes.text("units", unit.empty() ? column.unit : unit);
    attributes.text("TUNIT", column.unit);
  }
  if (!header.coordsys.empty()) attributes.text("COORDSYS", header.coordsys);
  attributes.text("POLCCONV", "COSMO");
  if (header.precision == Precision::single_) {
    attributes.single("_FillValue", static_cast<float>(unseen));
  } else {
    attributes.real("_FillValue", unseen);
  }
  write_hdf5_processing(dataset, path, provenance);
}

/// Creates the file with everything except the numbers of the map. Not collective.
void create_lat_lon(const std::string& path, const MapHeader& header, const Provenance& provenance,
                    const Hdf5Shape& shape) {
  const RingGrid& grid = *header.grid;
  const Ring& first = grid.rings().front();
  Hdf5Handle file = create_hdf5(path);
  write_hdf5_root(file, path, provenance);
  std::vector<double> latitudes, longitudes;
  for (std::int64_t ring = 0; ring < grid.n_rings(); ++ring)
    latitudes.push_back(latitude_of(grid, ring));
  for (std::int64_t pixel = 0; pixel < first.n_phi; ++pixel) {
    longitudes.push_back(first.phi0 * 180 / std::numbers::pi +
                         360 * static_cast<double>(pixel) / static_cast<double>(first.n_phi));
  }
  Hdf5Handle lat = write_coordinate(file, path, "lat", latitudes);
  Hdf5Handle lon = write_coordinate(file, path, "lon", longitudes);
  const std::vector<std::string> names = variable_names(header);
  for (std::size_t c = 0; c < names.size(); ++c) {
    const Hdf5Handle dataset = create_hdf5_dataset(file, path, names[c].c_str(), shape);
    attach_hdf5_scales(dataset, path, {&lat, &lon});
    write_attributes(dataset, path, header, header.columns[c], provenance);
  }
  lat.close();
  lon.close();
  close_hdf5(std::move(file), path);
}

/// Returns the rings of the full grid that are not in the ranks' grid, as calls on rank 0.
std::vector<RingRows> missing_rows(const RingGrid& full, const RingGrid& part) {
  std::vector<RingRows> calls;
  std::int64_t next = 0;
  for (std::int64_t ring = 0; ring < full.n_rings(); ++ring) {
    if (next < part.n_rings() &&
        part.ring(RingId{next}).source_pixel == full.ring(RingId{ring}).first_pixel) {
      ++next;
    } else {
      calls.push_back({ring, 1, 0});
    }
  }
  return calls;
}

}  // namespace

void require_lat_lon_grid(const RingGrid& grid) {
  const Ring& first = grid.rings().front();
  const bool is_rectangular = std::all_of(
      grid.rings().begin(), grid.rings().end(),
      [&](const Ring& ring) { return ring.n_phi == first.n_phi && ring.phi0 == first.phi0; });
  if (is_rectangular && !grid.is_subset()) return;
  throw UsageError(fmt::format(
      "NetCDF maps are on grids of latitude and longitude, this one is {}; write HDF5 (.h5)",
      grid.name()));
}

template <class T>
void write_hdf5_lat_lon(const Communicator& comm, const std::string& path, const MapHeader& header,
                        const Provenance& provenance, const LocalRings& rings, MapView<const T> map,
                        const Hdf5Limits& limits) {
  agree(comm, [&] { check_rectangle(path, header, rings, map); });
  const RingGrid& grid = *header.grid;
  const std::int64_t n_phi = grid.longest_ring();
  const Hdf5Shape shape{{grid.n_rings(), n_phi},
                        Hdf5Shape::Number::real,
                        header.precision == Precision::single_ ? 4 : 8,
                        Hdf5Shape::Layout::contiguous};
  std::vector<RingRows> missing;
  std::vector<T> hole;
  agree(comm, [&] {
    if (!comm.is_root()) return;
    create_lat_lon(path, header, provenance, shape);
    missing = missing_rows(grid, rings.grid());
    hole.assign(to_size(n_phi), static_cast<T>(unseen));
  });
  missing.resize(to_size(comm.max(ssize64(missing))));
  const std::vector<RingRows> calls = ring_rows(comm, rings, {0, grid.n_rings()}, limits);
  const std::vector<std::string> names = variable_names(header);
  Hdf5TransferFile file(comm, path, Hdf5Access::write);
  for (std::size_t c = 0; c < names.size(); ++c) {
    const Hdf5Rows stored(file, names[c], shape, Hdf5Axes::planes);
    const auto write = [&](const RingRows& call, const T* values) {
      const RowRun run{call.first_ring * n_phi, call.count * n_phi};
      agree(comm, [&] {
        stored.write(0, std::span(&run, call.count > 0 ? 1 : 0),
                     std::span<const T>(values, to_size(run.count)));
      });
    };
    const T* component = map.component(static_cast<std::int64_t>(c)).data();
    for (const RingRows& call : calls) write(call, component + call.first_local);
    for (const RingRows& call : missing) write(call, hole.data());
  }
  file.close();
}

template void write_hdf5_lat_lon(const Communicator&, const std::string&, const MapHeader&,
                                 const Provenance&, const LocalRings&, MapView<const double>,
                                 const Hdf5Limits&);
template void write_hdf5_lat_lon(const Communicator&, const std::string&, const MapHeader&,
                                 const Provenance&, const LocalRings&, MapView<const float>,
                                 const Hdf5Limits&);

}  // namespace ringweave::detail::inline io
