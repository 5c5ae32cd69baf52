// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "base/checked_cast.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/dimensions.hpp"
#include "io/hdf5/lat_lon.hpp"
#include "io/hdf5/plane.hpp"
#include "io/hdf5/points.hpp"
#include "io/hdf5/read_apart.hpp"
#include "io/header_json.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline io {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PlaneContent, is_stated, fields)

namespace {

// Groups may contain each other, many times.
constexpr int most_depth = 8;
constexpr int most_groups = 10000;
constexpr std::size_t most_datasets = 10000;

/// Adds the names of the datasets of a group and of those in it, with their groups.
/// groups_left  that are looked into
void collect_datasets(const Hdf5Handle& file, const std::string& path, const std::string& group,
                      int depth, int& groups_left, std::vector<std::string>& names) {
  --groups_left;
  const std::string prefix = group == "/" ? "" : group + "/";
  for (const std::string& name : hdf5_datasets(file, path, group)) {
    if (names.size() < most_datasets) names.push_back(prefix + name);
  }
  if (depth == most_depth) return;
  for (const std::string& inner : hdf5_groups(file, path, group)) {
    if (names.size() < most_datasets && groups_left > 0)
      collect_datasets(file, path, prefix + inner, depth + 1, groups_left, names);
  }
}

std::vector<std::string> all_datasets(const Hdf5Handle& file, const std::string& path) {
  std::vector<std::string> names;
  int groups_left = most_groups;
  collect_datasets(file, path, "/", 0, groups_left, names);
  return names;
}

std::string last_part(const std::string& name) { return name.substr(name.rfind('/') + 1); }

/// A dataset as it is listed in messages.
struct Listed {
  std::string name;
  std::string words;      ///< its shape, or its contents
  bool is_field = false;  ///< floating-point numbers of rank 2 or more
};

Listed listed(const Hdf5Handle& file, const std::string& name) {
  Listed found{name, "broken"};
  const Hdf5Handle dataset(H5Dopen2(file.id(), name.c_str(), H5P_DEFAULT), H5Dclose);
  if (!dataset.valid()) return found;
  const Hdf5Handle type(H5Dget_type(dataset.id()), H5Tclose);
  const Hdf5Handle space(H5Dget_space(dataset.id()), H5Sclose);
  const int rank = H5Sget_simple_extent_ndims(space.id());
  const H5T_class_t type_class = H5Tget_class(type.id());
  if (rank < 0) return found;
  std::array<hsize_t, H5S_MAX_RANK> dims{};
  H5Sget_simple_extent_dims(space.id(), dims.data(), nullptr);
  found.words = fmt::format("{}", fmt::join(dims.begin(), dims.begin() + rank, " x "));
  if (rank == 0) found.words = "one value";
  if (type_class == H5T_STRING) found.words += ", text";
  if (type_class == H5T_INTEGER) found.words += ", integers";
  if (type_class == H5T_COMPOUND) found.words += ", a compound";
  found.is_field = type_class == H5T_FLOAT && rank >= 2;
  return found;
}

/// Returns the names of coordinates: dimension scales, and the names in the attributes
/// `coordinates` and `bounds` of others, as CF has it.
std::set<std::string> coordinates_of(const Hdf5Handle& file, const std::string& path,
                                     const std::vector<std::string>& datasets) {
  std::set<std::string> names;
  for (const std::string& name : datasets) {
    try {
      if (is_hdf5_scale(file, path, name)) names.insert(last_part(name));
      const Hdf5Handle dataset(H5Dopen2(file.id(), name.c_str(), H5P_DEFAULT), H5Dclose);
      if (!dataset.valid()) continue;
      const Hdf5AttributeReader attributes(dataset, path);
      for (const char* attribute : {"coordinates", "bounds"}) {
        std::istringstream words(attributes.text_or_empty(attribute));
        for (std::string word; words >> word;) names.insert(last_part(word));
      }
    } catch (const DataError&) {
      continue;  // of a damaged attribute; such a dataset is judged when it is chosen
    }
  }
  return names;
}

/// Returns where the object of a dataset lies in the file: the same for all its names.
hobj_ref_t address_of(const Hdf5Handle& file, const std::string& name) {
  hobj_ref_t address = 0;
  H5Rcreate(&address, file.id(), name.c_str(), H5R_OBJECT, -1);
  return address;
}

/// Lists the datasets that may be fields; of several names of a dataset the first.
std::vector<Listed> possible_fields(const Hdf5Handle& file, const std::string& path,
                                    const std::vector<std::string>& datasets) {
  const std::set<std::string> coordinates = coordinates_of(file, path, datasets);
  std::vector<Listed> fields;
  std::set<hobj_ref_t> addresses;
  for (const std::string& name : datasets) {
    Listed found = listed(file, name);
    if (found.is_field && !coordinates.contains(last_part(name)) &&
        addresses.insert(address_of(file, name)).second)
      fields.push_back(std::move(found));
  }
  return fields;
}

std::string list_of(const std::vector<Listed>& datasets) {
  constexpr std::size_t most = 20;
  std::vector<std::string> words;
  for (std::size_t i = 0; i < std::min(most, datasets.size()); ++i)
    words.push_back(fmt::format("{} ({})", datasets[i].name, datasets[i].words));
  if (datasets.size() > most) words.push_back("...");
  return words.empty() ? "none" : fmt::format("{}", fmt::join(words, ", "));
}

std::string list_of_all(const Hdf5Handle& file, const std::vector<std::string>& datasets) {
  std::vector<Listed> all;
  for (std::size_t i = 0; i < std::min<std::size_t>(datasets.size(), 21); ++i)
    all.push_back(listed(file, datasets[i]));
  return list_of(all);
}

std::string chosen_dataset(const Hdf5Handle& file, const std::string& path,
                           const std::vector<std::string>& datasets, const std::string& field) {
  if (!field.empty()) {
    std::string name = field.substr(std::min(field.find_first_not_of('/'), field.size()));
    const bool is_there = !name.empty() && has_hdf5_object(file, name);
    const Hdf5Handle dataset(
        is_there ? H5Dopen2(file.id(), name.c_str(), H5P_DEFAULT) : H5I_INVALID_HID, H5Dclose);
    if (dataset.valid()) return name;
    throw UsageError(fmt::format("{}: has no data set {}; there is {}", path, field,
                                 list_of_all(file, datasets)));
  }
  const std::vector<Listed> fields = possible_fields(file, path, datasets);
  if (fields.size() == 1) return fields.front().name;
  if (fields.empty()) {
    throw DataError(path,
                    fmt::format("has no field in the plane: expected a data set of floating-point "
                                "numbers with two or more dimensions, the last two y and x; its "
                                "data sets: {}",
                                list_of_all(file, datasets)));
  }
  throw UsageError(
      fmt::format("{}: has several fields; name one of them: {}", path, list_of(fields)));
}

/// Checks the type and the shape of a dataset.
Hdf5Shape plane_shape(const Hdf5Handle& file, const std::string& path, const std::string& name) {
  Hdf5Shape shape = inspect_hdf5_dataset(file, path, name, H5S_MAX_RANK, EmptyDataset::accept);
  if (shape.number == Hdf5Shape::Number::complex) {
    throw DataError(path, fmt::format("/{} holds complex numbers; expected real ones: write real "
                                      "and imaginary parts separately",
                                      name));
  }
  if (shape.dims.size() < 2) {
    throw DataError(path, fmt::format("/{} has one dimension; expected two or more, the last two "
                                      "y and x",
                                      name));
  }
  if (std::find(shape.dims.begin(), shape.dims.end(), 0) != shape.dims.end()) {
    throw DataError(path, fmt::format("/{} is empty: its dimensions are {}", name,
                                      fmt::join(shape.dims, " x ")));
  }
  constexpr std::int64_t longest_row = std::int64_t{1} << 27;  // one call moves less than 2 GiB
  if (shape.dims.back() > longest_row) {
    throw DataError(path, fmt::format("/{} has rows of {} numbers; at most {} are read", name,
                                      shape.dims.back(), longest_row));
  }
  return shape;
}

/// Throws a DataError for numbers that are to be scaled.
void require_unpacked(const Hdf5AttributeReader& attributes, const std::string& path,
                      const std::string& name) {
  const double scale = attributes.real("scale_factor").value_or(1);
  const double offset = attributes.real("add_offset").value_or(0);
  if (scale == 1 && offset == 0) return;
  throw DataError(path, fmt::format("/{} is packed (scale_factor {}, add_offset {}); unpack it, "
                                    "e.g. with `ncpdq -U IN OUT`",
                                    name, scale, offset));
}

/// Tells whether a file holds maps, a_lm, spectra or values at points, also damaged ones.
bool is_on_sphere(const std::string& path) {
  try {
    if (find_in_hdf5(path).values || find_hdf5_lat_lon(path, "").has_value()) return true;
  } catch (const DataError&) {
    return true;
  }
  return !words_of_content(open_hdf5(path), path).empty();
}

}  // namespace

Hdf5PlaneInfo find_hdf5_plane(const std::string& path, const std::string& field) {
  const Hdf5Handle file = open_hdf5(path);
  const std::vector<std::string> datasets = all_datasets(file, path);
  Hdf5PlaneInfo info;
  PlaneHeader& header = info.header;
  header.name = chosen_dataset(file, path, datasets, field);
  const Hdf5Shape shape = plane_shape(file, path, header.name);
  const bool are_real = shape.number == Hdf5Shape::Number::real;
  header.precision = are_real && shape.bytes <= 4 ? Precision::single_ : Precision::double_;
  if (!are_real) info.warnings.push_back("/" + header.name + " holds integers; read as doubles");
  const Hdf5Handle dataset(H5Dopen2(file.id(), header.name.c_str(), H5P_DEFAULT), H5Dclose);
  const Hdf5AttributeReader attributes(dataset, path);
  require_unpacked(attributes, path, header.name);
  header.unit = attributes.text_or_empty("units");
  header.long_name = attributes.text_or_empty("long_name");
  info.origin = read_hdf5_origin(file, dataset, path);
  header.attributes = std::move(info.origin.keywords);
  info.origin.keywords.clear();
  set_plane_axes(file, path, datasets, shape.dims, info);
  return info;
}

bool states_plane_schema(const Hdf5Handle& file, const std::string& path) {
  const Hdf5Handle root(H5Gopen2(file.id(), "/", H5P_DEFAULT), H5Gclose);
  try {
    return Hdf5AttributeReader(root, path).text_or_empty("schema") == plane_schema;
  } catch (const DataError&) {
    return false;  // informative only
  }
}

PlaneContent find_plane_content(const Communicator& comm, const std::string& path) {
  const auto find = [&] {
    const bool is_elsewhere = is_on_sphere(path);
    const Hdf5Handle file = open_hdf5(path);
    PlaneContent content;
    content.is_stated = states_plane_schema(file, path);
    if (is_elsewhere && !content.is_stated) return content;
    for (const Listed& found : possible_fields(file, path, all_datasets(file, path)))
      content.fields.push_back(found.name);
    return content;
  };
  return share_from_root(comm, [&] { return read_apart(path, find); });
}

}  // namespace ringweave::detail::inline io
