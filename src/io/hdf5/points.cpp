// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/hdf5/points.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "io/equal_parts.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/dimensions.hpp"
#include "io/hdf5/map_header.hpp"
#include "io/hdf5/plane.hpp"
#include "io/hdf5/read_apart.hpp"
#include "io/header_json.hpp"
#include "io/unit_name.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline io {
namespace {

constexpr const char* values_name = "values";

struct PointsInfo {
  std::vector<std::string> names;  ///< of the datasets theta, phi and psi
  std::vector<Hdf5Shape> shapes;
  FileOrigin origin;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PointsInfo, names, shapes, origin)

struct ValuesInfo {
  std::vector<std::string> components;
  std::string unit;
  Hdf5Shape shape;
  FileOrigin origin;
  std::int64_t n_components() const { return shape.dims.size() == 2 ? shape.dims[0] : 1; }
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ValuesInfo, components, unit, shape, origin)

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Returns the datasets theta, phi and, where it is there, psi of the root or of /points; empty
/// where neither has both theta and phi.
std::vector<std::string> angle_names(const Hdf5Handle& file, const std::string& path) {
  for (const auto& [group, prefix] : {std::pair{"/", ""}, std::pair{"points", "points/"}}) {
    const std::vector<std::string> there = hdf5_datasets(file, path, group);
    if (!contains(there, "theta") || !contains(there, "phi")) continue;
    std::vector<std::string> names;
    for (const char* angle : {"theta", "phi", "psi"}) {
      if (contains(there, angle)) names.push_back(std::string(prefix) + angle);
    }
    return names;
  }
  return {};
}

/// Lists the datasets of the root and of /points.
std::string datasets_there(const Hdf5Handle& file, const std::string& path) {
  std::vector<std::string> there = hdf5_datasets(file, path, "/");
  for (const std::string& name : hdf5_datasets(file, path, "points"))
    there.push_back("points/" + name);
  constexpr std::size_t most = 20;
  const bool is_cut = there.size() > most;
  if (is_cut) there.resize(most);
  return there.empty() ? "none"
                       : fmt::format("{}{}", fmt::join(there, ", "), is_cut ? ", ..." : "");
}

Hdf5Shape real_shape(const Hdf5Handle& file, const std::string& path, const std::string& name,
                     int n_dims) {
  Hdf5Shape shape = inspect_hdf5_dataset(file, path, name, n_dims, EmptyDataset::accept);
  if (shape.number == Hdf5Shape::Number::complex)
    throw DataError(path, fmt::format("/{} holds complex numbers; expected real ones", name));
  return shape;
}

FileOrigin origin_of(const Hdf5Handle& file, const std::string& name, const std::string& path) {
  const Hdf5Handle dataset(H5Dopen2(file.id(), name.c_str(), H5P_DEFAULT), H5Dclose);
  return read_hdf5_origin(file, dataset, path);
}

PointsInfo read_points_info(const std::string& path) {
  const Hdf5Handle file = open_hdf5(path);
  PointsInfo info;
  info.names = angle_names(file, path);
  if (info.names.empty()) {
    throw DataError(path, fmt::format("needs datasets theta and phi, both in the root or both in "
                                      "the group points; its datasets there: {}",
                                      datasets_there(file, path)));
  }
  for (const std::string& name : info.names) {
    info.shapes.push_back(real_shape(file, path, name, 1));
    const std::int64_t first = info.shapes.front().dims[0];
    if (const std::int64_t length = info.shapes.back().dims[0]; length != first) {
      throw DataError(path, fmt::format("/{} has {} numbers, but /{} has {}; expected one of each "
                                        "for every point",
                                        info.names.front(), first, name, length));
    }
  }
  info.origin = origin_of(file, info.names.front(), path);
  return info;
}

ValuesInfo read_values_info(const std::string& path) {
  const Hdf5Handle file = open_hdf5(path);
  if (!contains(hdf5_datasets(file, path, "/"), values_name)) {
    throw DataError(path, fmt::format("needs a dataset values in the root; its datasets there: {}",
                                      datasets_there(file, path)));
  }
  ValuesInfo info;
  info.shape = real_shape(file, path, values_name, 2);
  require_n_components(path, info.n_components());
  info.origin = origin_of(file, values_name, path);
  const Hdf5Handle dataset(H5Dopen2(file.id(), values_name, H5P_DEFAULT), H5Dclose);
  const Hdf5AttributeReader attributes(dataset, path);
  info.components = attributes.texts("components");
  info.unit = attributes.text("TUNIT").value_or(attributes.text("units").value_or(""));
  return info;
}

/// Returns the calls that move a rank's `count` numbers from `first` on. Collective.
std::vector<SlabCall> calls_for(const Communicator& comm, std::int64_t first, std::int64_t count,
                                const Hdf5Limits& limits) {
  const PixelRun own{first, 0, count};
  return slab_calls(comm, std::span(&own, 1), limits);
}

/// Reads this rank's part of a row of an open dataset. Collective.
void read_part(const Communicator& comm, const Hdf5Rows& rows, std::int64_t row, std::int64_t first,
               View<double> to, const Hdf5Limits& limits) {
  for (const SlabCall& call : calls_for(comm, first, to.size(), limits)) {
    agree(comm, [&] {
      rows.read(row, call.runs,
                std::span<double>(to.data() + call.first_local, to_size(call.count)));
    });
  }
}

void create_values(const std::string& path, const ValuesHeader& header,
                   const Provenance& provenance, const Hdf5Shape& shape) {
  Hdf5Handle file = create_hdf5(path);
  write_hdf5_root(file, path, provenance);
  Hdf5Handle dataset = create_hdf5_dataset(file, path, values_name, shape);
  const Hdf5AttributeWriter attributes(dataset, path);
  attributes.texts("components", header.components);
  if (const std::string unit = astropy_unit(header.unit); !unit.empty())
    attributes.text("units", unit);
  if (!header.unit.empty()) attributes.text("TUNIT", header.unit);
  write_hdf5_processing(dataset, path, provenance);
  const Hdf5Handle component = write_hdf5_labels(file, path, "component", header.components);
  const Hdf5Handle point = create_hdf5_dimension(file, path, "point", shape.dims.back());
  attach_hdf5_scales(dataset, path, {&component, &point});
  dataset.close();
  close_hdf5(std::move(file), path);
}

/// Allocates the numbers of this rank's points, `size` of `total`, if the memory holds them.
/// Collective.
ComponentBuffer<double> make_part(const Communicator& comm, const std::string& what,
                                  std::int64_t n_components, std::int64_t total,
                                  std::int64_t size) {
  require_memory_of_parts(comm, what, n_components, total);
  return agreed(comm, [&] { return ComponentBuffer<double>(n_components, size); });
}

}  // namespace

PointContent find_in_hdf5(const std::string& path) {
  const Hdf5Handle file = open_hdf5(path);
  PointContent found;
  if (states_plane_schema(file, path)) return found;
  found.points = !angle_names(file, path).empty();
  const std::vector<std::string> there = hdf5_datasets_without_scales(file, path, "/");
  // A map over latitude and longitude may be called so too; its coordinates lie next to it.
  const std::vector<std::string> known{values_name, "theta", "phi", "psi"};
  found.values = contains(there, values_name) &&
                 std::all_of(there.begin(), there.end(),
                             [&](const std::string& name) { return contains(known, name); });
  return found;
}

PointFile read_hdf5_points(const Communicator& comm, const std::string& path,
                           const Hdf5Limits& limits) {
  const PointsInfo info = share_from_root(
      comm, [&] { return read_apart(path, [&] { return read_points_info(path); }); });
  PointFile points;
  points.origin = info.origin;
  points.total = info.shapes.front().dims[0];
  points.first = part_begin(points.total, comm.rank(), comm.size());
  const std::int64_t end = part_begin(points.total, comm.rank() + std::int64_t{1}, comm.size());
  points.angles =
      make_part(comm, "points of " + path, ssize64(info.names), points.total, end - points.first);
  for (std::size_t d = 0; d < info.names.size() && points.total > 0; ++d) {
    Hdf5TransferFile file(comm, path, Hdf5Access::read);
    const Hdf5Rows rows(file, info.names[d], info.shapes[d]);
    read_part(comm, rows, 0, points.first,
              points.angles.view().component(static_cast<std::int64_t>(d)), limits);
    file.close();
  }
  return points;
}

ValuesFile read_hdf5_values(const Communicator& comm, const std::string& path,
                            std::optional<std::int64_t> n_points, const Hdf5Limits& limits) {
  const ValuesInfo info = share_from_root(
      comm, [&] { return read_apart(path, [&] { return read_values_info(path); }); });
  ValuesFile file;
  file.total = info.shape.dims.back();
  require_n_points(path, file.total, n_points);
  file.header.components = info.components;
  file.header.unit = info.unit;
  file.header.precision = info.shape.bytes == 4 ? Precision::single_ : Precision::double_;
  file.origin = info.origin;
  file.first = part_begin(file.total, comm.rank(), comm.size());
  const std::int64_t end = part_begin(file.total, comm.rank() + std::int64_t{1}, comm.size());
  file.values =
      make_part(comm, "values of " + path, info.n_components(), file.total, end - file.first);
  if (file.total == 0) return file;
  Hdf5TransferFile opened(comm, path, Hdf5Access::read);
  const Hdf5Rows rows(opened, values_name, info.shape);
  for (std::int64_t c = 0; c < info.n_components(); ++c)
    read_part(comm, rows, c, file.first, file.values.view().component(c), limits);
  opened.close();
  return file;
}

template <class T>
void write_hdf5_values(const Communicator& comm, const std::string& path,
                       const ValuesHeader& header, const Provenance& provenance,
                       ComponentView<const T> values, const Hdf5Limits& limits) {
  const ValuesShare share = share_of_values(comm, values.size());
  const Hdf5Shape shape{{values.n_components(), share.total},
                        Hdf5Shape::Number::real,
                        header.precision == Precision::single_ ? 4 : 8,
                        {}};
  agree(comm, [&] {
    if (comm.is_root()) create_values(path, header, provenance, shape);
  });
  if (share.total == 0) return;
  Hdf5TransferFile file(comm, path, Hdf5Access::write);
  {
    const Hdf5Rows rows(file, values_name, shape);
    const std::vector<SlabCall> calls = calls_for(comm, share.first, values.size(), limits);
    for (std::int64_t c = 0; c < values.n_components(); ++c) {
      for (const SlabCall& call : calls) {
        agree(comm, [&] {
          rows.write(c, call.runs,
                     std::span<const T>(values.component(c).data() + call.first_local,
                                        to_size(call.count)));
        });
      }
    }
  }
  file.close();
}

template void write_hdf5_values(const Communicator&, const std::string&, const ValuesHeader&,
                                const Provenance&, ComponentView<const double>, const Hdf5Limits&);
template void write_hdf5_values(const Communicator&, const std::string&, const ValuesHeader&,
                                const Provenance&, ComponentView<const float>, const Hdf5Limits&);

}  // namespace ringweave::detail::inline io
