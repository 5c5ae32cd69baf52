// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>

#include "base/checked_cast.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/dimensions.hpp"
#include "io/hdf5/plane.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline io {
namespace {

constexpr std::int64_t most_nodes = std::int64_t{1} << 22;

/// The places where the axes of a data set are looked for.
struct AxisSearch {
  const Hdf5Handle& file;
  const std::string& path;
  const std::vector<std::string>& datasets;
  const std::string& field;
  std::vector<std::string> scales;  ///< one for each axis, or none
};

std::string base_name(const std::string& name) { return name.substr(name.rfind('/') + 1); }

/// Returns the dataset that is the scale of an axis; empty without one.
std::string scale_of(const AxisSearch& search, std::size_t axis) {
  if (search.scales.empty() || search.scales[axis].empty()) return {};
  const auto found =
      std::find_if(search.datasets.begin(), search.datasets.end(), [&](const std::string& name) {
        return lists_hdf5_scale(search.file, search.scales[axis], name);
      });
  return found == search.datasets.end() ? "" : *found;
}

/// Returns the dataset of this name in the group of the field or in one around it; empty without
/// one.
std::string beside(const AxisSearch& search, const std::string& name) {
  for (std::size_t end = search.field.rfind('/'); true; end = search.field.rfind('/', end - 1)) {
    const std::string prefix = end == std::string::npos ? "" : search.field.substr(0, end + 1);
    std::string there = prefix + name;
    if (there != search.field &&
        std::find(search.datasets.begin(), search.datasets.end(), there) != search.datasets.end())
      return there;
    if (end == std::string::npos || end == 0) return {};
  }
}

/// Tells whether a scale is one of NetCDF's dimensions without numbers.
bool has_no_numbers(const Hdf5AttributeReader& attributes) {
  return attributes.text_or_empty("NAME").starts_with("This is a netCDF dimension");
}

/// Tells whether a dataset holds floating-point numbers of 4 bytes or less.
bool is_single(const Hdf5Handle& dataset) {
  const Hdf5Handle type(H5Dget_type(dataset.id()), H5Tclose);
  return H5Tget_class(type.id()) == H5T_FLOAT && H5Tget_size(type.id()) <= sizeof(float);
}

/// Returns the number of dimensions of a dataset.
int rank_of(const Hdf5Handle& dataset) {
  const Hdf5Handle space(H5Dget_space(dataset.id()), H5Sclose);
  return H5Sget_simple_extent_ndims(space.id());
}

/// Returns the numbers that stand for none; nothing if an attribute lists several.
std::vector<double> missing_numbers(const Hdf5AttributeReader& attributes) {
  try {
    return attributes.missing_values();
  } catch (const DataError&) {
    return {};
  }
}

/// Reads one finite number for each index of an axis.
/// missing  numbers that stand for none
/// Error    DataError
std::vector<double> coordinates_of(const AxisSearch& search, const std::string& dataset,
                                   std::span<const double> missing, const PlaneFileAxis& axis) {
  const Hdf5Shape shape =
      inspect_hdf5_dataset(search.file, search.path, dataset, 1, EmptyDataset::accept);
  if (shape.dims[0] != axis.size) {
    throw DataError(search.path, fmt::format("/{} has {} coordinates, but this axis of /{} has {} "
                                             "indices; expected one for each",
                                             dataset, shape.dims[0], search.field, axis.size));
  }
  std::vector<double> values = read_small_dataset(search.file, search.path, dataset, most_nodes);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool is_missing = std::find(missing.begin(), missing.end(), values[i]) != missing.end();
    if (std::isfinite(values[i]) && !is_missing) continue;
    throw DataError(search.path,
                    fmt::format("/{} is {} at index {}{}; expected finite coordinates", dataset,
                                values[i], i, is_missing ? ", a missing value" : ""));
  }
  return values;
}

void require_ascending(const AxisSearch& search, const std::string& dataset,
                       const std::vector<double>& values) {
  const auto falls =
      std::adjacent_find(values.begin(), values.end(), [](double a, double b) { return !(a < b); });
  if (falls == values.end()) return;
  throw DataError(
      search.path,
      fmt::format(
          "/{} does not ascend: it is {} at index {} and {} at the next; expected ascending "
          "coordinates: sort them and the field along this axis",
          dataset, *falls, falls - values.begin(), falls[1]));
}

/// Adds the coordinates and attributes of a dataset to an axis whose name and size are known.
void describe_axis(const AxisSearch& search, const std::string& dataset, bool is_of_plane,
                   PlaneFileAxis& axis, std::vector<std::string>& warnings) {
  const Hdf5Handle opened(H5Dopen2(search.file.id(), dataset.c_str(), H5P_DEFAULT), H5Dclose);
  const Hdf5AttributeReader attributes(opened, search.path);
  if (has_no_numbers(attributes)) return;
  if (const int rank = rank_of(opened); is_of_plane && rank > 1) {
    warnings.push_back(fmt::format(
        "/{} has {} dimensions, and coordinates of an axis have one; axis {} has no coordinates: "
        "write one-dimensional ones, or give gyroaverage --domain",
        dataset, rank, axis.name));
    return;
  }
  const std::vector<double> missing = missing_numbers(attributes);
  if (is_of_plane) {
    axis.coordinates = coordinates_of(search, dataset, missing, axis);
    require_ascending(search, dataset, axis.coordinates);
  } else {
    try {
      axis.coordinates = coordinates_of(search, dataset, missing, axis);
    } catch (const DataError& error) {
      std::string_view why = error.what();
      if (why.starts_with(search.path + ": ")) why.remove_prefix(search.path.size() + 2);
      warnings.push_back(fmt::format("axis {} has no coordinates, because it needs {} numbers: {}",
                                     axis.name, axis.size, why));
    }
  }
  if (!axis.coordinates.empty() && is_single(opened)) axis.precision = Precision::single_;
  axis.unit = attributes.text_or_empty("units");
  axis.long_name = attributes.text_or_empty("long_name");
  axis.attributes = attributes.keywords();
  // It stays true of other nodes of the axis.
  if (const std::string name = attributes.text_or_empty("standard_name"); !name.empty())
    axis.attributes.push_back({"standard_name", name, {}});
  constexpr std::string_view of_other_data_sets[] = {
      "bounds", "climatology", "formula_terms", "edges", "ancillary_variables", "cell_measures"};
  std::erase_if(axis.attributes, [&](const Keyword& keyword) {
    return std::find(std::begin(of_other_data_sets), std::end(of_other_data_sets), keyword.name) !=
           std::end(of_other_data_sets);
  });
}

/// Throws a DataError where an axis is called y or x and is in another place.
void require_order(const AxisSearch& search, const std::vector<std::string>& names) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool is_misplaced =
        (names[i] == "x" && i + 1 != names.size()) || (names[i] == "y" && i + 2 != names.size());
    if (!is_misplaced) continue;
    throw DataError(search.path,
                    fmt::format("/{} has its axes in the order {}; expected y and x last: "
                                "transpose it, e.g. with `ncpdq -a ...,y,x IN OUT`",
                                search.field, fmt::join(names, ", ")));
  }
}

}  // namespace

void set_plane_axes(const Hdf5Handle& file, const std::string& path,
                    const std::vector<std::string>& datasets, const std::vector<std::int64_t>& dims,
                    Hdf5PlaneInfo& info) {
  PlaneHeader& header = info.header;
  const Hdf5Handle dataset(H5Dopen2(file.id(), header.name.c_str(), H5P_DEFAULT), H5Dclose);
  AxisSearch search{file, path, datasets, header.name, hdf5_scales_of(dataset, path)};
  if (search.scales.size() != dims.size()) search.scales.clear();
  const std::size_t n_before = dims.size() - 2;
  std::vector<std::string> sources, names;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    std::string fallback = i < n_before ? fmt::format("axis{}", i) : i == n_before ? "y" : "x";
    std::string source = scale_of(search, i);
    if (source.empty() && i >= n_before) source = beside(search, fallback);
    std::string name = source.empty() ? fallback : base_name(source);
    // A square may have one scale for both axes.
    if (std::find(names.begin(), names.end(), name) != names.end()) name = std::move(fallback);
    sources.push_back(std::move(source));
    names.push_back(std::move(name));
  }
  require_order(search, names);
  header.axes.resize(n_before);
  for (std::size_t i = 0; i < dims.size(); ++i) {
    PlaneFileAxis& axis = i < n_before ? header.axes[i] : i == n_before ? header.y : header.x;
    axis.name = names[i];
    axis.size = dims[i];
    if (!sources[i].empty()) describe_axis(search, sources[i], i >= n_before, axis, info.warnings);
  }
}

}  // namespace ringweave::detail::inline io
