// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "base/checked_cast.hpp"
#include "io/column_names.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/dimensions.hpp"
#include "io/hdf5/lat_lon.hpp"
#include "io/keywords.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline io {
namespace {

constexpr std::int64_t most_coordinates = std::int64_t{1} << 21;
constexpr int most_dims = 8;
constexpr std::int64_t most_columns = 10000;

/// A dataset of the root group that holds numbers.
struct Variable {
  std::string name;
  Hdf5Shape shape;
};

enum class Axis { latitude, longitude, other };

Hdf5Handle open_variable(const Hdf5Handle& file, const std::string& name) {
  return {H5Dopen2(file.id(), name.c_str(), H5P_DEFAULT), H5Dclose};
}

/// Decides by the units, as CF does, else by the name.
Axis axis_of(const Hdf5Handle& file, const std::string& path, const Variable& variable) {
  if (variable.shape.dims.size() != 1) return Axis::other;
  const Hdf5Handle dataset = open_variable(file, variable.name);
  const Hdf5AttributeReader attributes(dataset, path);
  const std::string units = upper(attributes.text_or_empty("units"));
  const std::string name = upper(variable.name);
  if (units.starts_with("DEGREE")) {
    const char last = units.back();
    const bool says_nothing = units == "DEGREE" || units == "DEGREES";
    if (units.ends_with("NORTH") || (!says_nothing && last == 'N')) return Axis::latitude;
    if (units.ends_with("EAST") || (!says_nothing && units.ends_with("E") && units != "DEGREE"))
      return Axis::longitude;
  } else if (!units.empty()) {
    return Axis::other;
  }
  if (name == "LAT" || name == "LATITUDE" || name == "LATITUDES") return Axis::latitude;
  if (name == "LON" || name == "LONGITUDE" || name == "LONGITUDES") return Axis::longitude;
  return Axis::other;
}

/// Tells whether the last two dimensions of a variable are these coordinates: by its dimension
/// scales, or by its shape where it has none.
bool lies_on(const Hdf5Handle& file, const std::string& path, const Variable& variable,
             const Variable& latitude, const Variable& longitude) {
  const std::vector<std::int64_t>& dims = variable.shape.dims;
  const std::size_t n = dims.size();
  if (n < 2 || dims[n - 2] != latitude.shape.dims[0] || dims[n - 1] != longitude.shape.dims[0])
    return false;
  const std::vector<std::string> scales = hdf5_scales_of(open_variable(file, variable.name), path);
  if (scales.empty()) return true;
  return scales.size() == n && lists_hdf5_scale(file, scales[n - 2], latitude.name) &&
         lists_hdf5_scale(file, scales[n - 1], longitude.name);
}

/// Returns the datasets that can be read; others, such as texts, are no maps.
std::vector<Variable> readable_variables(const Hdf5Handle& file, const std::string& path) {
  std::vector<Variable> variables;
  for (const std::string& name : hdf5_datasets(file, path, "/")) {
    try {
      Variable variable{name, inspect_hdf5_dataset(file, path, name, most_dims,
                                                   EmptyDataset::refuse, MissingChunks::accept)};
      if (variable.shape.number != Hdf5Shape::Number::complex) variables.push_back(variable);
    } catch (const DataError&) {
      continue;
    }
  }
  return variables;
}

/// The variables over one pair of coordinates.
struct Family {
  const Variable* latitude = nullptr;
  const Variable* longitude = nullptr;
  std::vector<const Variable*> members;
};

/// Returns the variables of the pair of coordinates that has most.
Family largest_family(const Hdf5Handle& file, const std::string& path,
                      const std::vector<Variable>& variables, const std::string& chosen) {
  std::vector<const Variable*> latitudes, longitudes;
  for (const Variable& variable : variables) {
    const Axis axis = axis_of(file, path, variable);
    if (axis == Axis::latitude) latitudes.push_back(&variable);
    if (axis == Axis::longitude) longitudes.push_back(&variable);
  }
  Family largest;
  for (const Variable* latitude : latitudes) {
    for (const Variable* longitude : longitudes) {
      Family family{latitude, longitude, {}};
      for (const Variable& variable : variables) {
        if ((chosen.empty() || chosen == variable.name) &&
            lies_on(file, path, variable, *latitude, *longitude))
          family.members.push_back(&variable);
      }
      if (largest.latitude == nullptr || family.members.size() > largest.members.size())
        largest = family;
    }
  }
  return largest;
}

/// Puts T (or I), Q and U first, as in other files: datasets are found by name.
void order_stokes(std::vector<const Variable*>& members) {
  const auto place = [](const Variable* member) {
    const std::string& name = member->name;
    return is_stokes(name, 'T') || is_stokes(name, 'I') || name == "TEMPERATURE" ? 0
           : is_stokes(name, 'Q')                                                ? 1
           : is_stokes(name, 'U')                                                ? 2
                                                                                 : 3;
  };
  const auto has = [&](int wanted) {
    return std::any_of(members.begin(), members.end(),
                       [&](const Variable* member) { return place(member) == wanted; });
  };
  if (!has(1) || !has(2)) return;
  std::stable_sort(members.begin(), members.end(),
                   [&](const Variable* a, const Variable* b) { return place(a) < place(b); });
}

/// Adds the planes of a variable as columns.
void add_planes(const Hdf5Handle& file, const std::string& path, const Variable& variable,
                Hdf5LatLonInfo& info) {
  const Hdf5Handle dataset = open_variable(file, variable.name);
  require_written_chunks(dataset, path, variable.name);
  const Hdf5AttributeReader attributes(dataset, path);
  Hdf5LatLonInfo::Plane plane{variable.name, 0, variable.shape, 1, 0, {}, false};
  plane.scale = attributes.real("scale_factor").value_or(1);
  plane.offset = attributes.real("add_offset").value_or(0);
  if (!std::isfinite(plane.scale) || !std::isfinite(plane.offset)) {
    throw DataError(path, fmt::format("/{} has scale_factor {} and add_offset {}; expected finite "
                                      "numbers",
                                      variable.name, plane.scale, plane.offset));
  }
  plane.holes = {unseen};
  for (const double hole : attributes.missing_values()) {
    plane.nan_is_hole = plane.nan_is_hole || std::isnan(hole);
    if (std::isfinite(hole)) plane.holes.push_back(hole);
  }
  MapHeader& header = info.header;
  if (is_stokes(variable.name, 'U') && upper(attributes.text_or_empty("POLCCONV")) == "IAU") {
    plane.scale = -plane.scale;
    plane.offset = -plane.offset;
    header.polarisation_was_iau = true;
  }
  const bool are_real = variable.shape.number == Hdf5Shape::Number::real;
  if (!fits_single(are_real, variable.shape.bytes) || plane.offset != 0)
    header.precision = Precision::double_;
  if (header.coordsys.empty()) header.coordsys = attributes.text_or_empty("COORDSYS");
  const std::string stated = attributes.text_or_empty("TUNIT");
  const std::string unit = stated.empty() ? attributes.text_or_empty("units") : stated;
  std::int64_t n_planes = 1;
  for (std::size_t d = 0; d + 2 < variable.shape.dims.size(); ++d)
    n_planes *= variable.shape.dims[d];
  if (n_planes + ssize64(header.columns) > most_columns) {
    throw DataError(path, fmt::format("/{} has {} planes; expected at most {} in all",
                                      plane.variable, n_planes, most_columns));
  }
  const bool is_scaled = std::abs(plane.scale) != 1 || plane.offset != 0;
  const int integer_bytes = are_real || is_scaled ? 0 : static_cast<int>(variable.shape.bytes);
  for (; plane.number < n_planes; ++plane.number) {
    header.columns.push_back(
        {n_planes == 1 ? variable.name : fmt::format("{}_{}", variable.name, plane.number + 1),
         unit, integer_bytes});
    info.planes.push_back(plane);
  }
}

}  // namespace

std::optional<Hdf5LatLonInfo> find_hdf5_lat_lon(const std::string& path,
                                                const std::string& variable) {
  const Hdf5Handle file = open_hdf5(path);
  const std::vector<Variable> variables = readable_variables(file, path);
  Family family = largest_family(file, path, variables, variable);
  if (family.latitude == nullptr && variable.empty()) return std::nullopt;
  if (family.latitude == nullptr) {
    throw UsageError(
        fmt::format("{}: --variable chooses among variables over latitude and "
                    "longitude, and the file has none; leave it out",
                    path));
  }
  if (family.members.empty()) {
    const std::vector<const Variable*> all = largest_family(file, path, variables, "").members;
    std::vector<std::string> names;
    for (const Variable* member : all) names.push_back(member->name);
    if (!variable.empty() && !names.empty()) {
      throw UsageError(
          fmt::format("{}: --variable {}: no variable of this name over latitude and "
                      "longitude; there is {}",
                      path, variable, fmt::join(names, ", ")));
    }
    throw DataError(path,
                    fmt::format("/{} and /{} are coordinates, but no variable has them as its "
                                "last two dimensions, latitude before longitude",
                                family.latitude->name, family.longitude->name));
  }
  order_stokes(family.members);
  LatLonGrid found = find_lat_lon_grid(
      path, read_small_dataset(file, path, family.latitude->name, most_coordinates),
      read_small_dataset(file, path, family.longitude->name, most_coordinates));
  Hdf5LatLonInfo info;
  info.order = found.order;
  MapHeader& header = info.header;
  header.grid = found.grid;
  header.warnings = found.warnings;
  header.precision = Precision::single_;
  if (found.order.rings().size() < header.grid->n_rings()) {
    header.coverage = SkyCoverage::partial;
    header.listed_pixels = found.order.n_rows * found.order.n_phi;
  }
  for (const Variable* member : family.members) add_planes(file, path, *member, info);
  header.origin = read_hdf5_origin(file, open_variable(file, family.members.front()->name), path);
  return info;
}

}  // namespace ringweave::detail::inline io
