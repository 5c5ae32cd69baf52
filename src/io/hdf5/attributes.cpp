// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/hdf5/attributes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>
#include <utility>
#include <variant>

#include "base/checked_cast.hpp"
#include "io/file_origin.hpp"
#include "io/hdf5/file.hpp"
#include "io/hdf5/global_heap.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline io {
namespace {

constexpr std::int64_t scalar = -1;
/// More entries than any map has columns; prevents a forged count from exhausting memory.
constexpr hssize_t max_entries = 10000;

/// h5py's type of True and False.
Hdf5Handle logical_type() {
  Hdf5Handle type(H5Tenum_create(H5T_NATIVE_INT8), H5Tclose);
  const std::int8_t no = 0;
  const std::int8_t yes = 1;
  H5Tenum_insert(type.id(), "FALSE", &no);
  H5Tenum_insert(type.id(), "TRUE", &yes);
  return type;
}

std::vector<std::string> read_fixed_texts(hid_t attribute, hid_t type, std::int64_t count,
                                          bool& good) {
  const std::size_t width = H5Tget_size(type);
  std::vector<char> bytes(checked_cast<std::size_t>(count, "texts") * width);
  good = H5Aread(attribute, type, bytes.data()) >= 0;
  std::vector<std::string> values;
  for (std::size_t i = 0; good && i < to_size(count); ++i) {
    std::string value(bytes.data() + i * width, width);
    value.resize(std::min(value.size(), value.find('\0')));
    while (!value.empty() && value.back() == ' ') value.pop_back();
    values.push_back(std::move(value));
  }
  return values;
}

}  // namespace

Hdf5Handle hdf5_text_type() {
  Hdf5Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.id(), H5T_VARIABLE);
  H5Tset_cset(type.id(), H5T_CSET_UTF8);
  return type;
}

void Hdf5AttributeWriter::write(const char* name, hid_t type, std::int64_t count,
                                const void* values) const {
  const hsize_t extent = count == scalar ? 1 : static_cast<hsize_t>(count);
  const Hdf5Handle space(
      count == scalar ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &extent, nullptr), H5Sclose);
  const Hdf5Handle attribute(H5Acreate2(object_, name, type, space.id(), H5P_DEFAULT, H5P_DEFAULT),
                             H5Aclose);
  if (!attribute.valid() || H5Awrite(attribute.id(), type, values) < 0) {
    throw ResourceError(
        fmt::format("{}: cannot write attribute {}; is the disk full?", path_, name));
  }
}

void Hdf5AttributeWriter::text(const char* name, const std::string& value) const {
  const char* pointer = value.c_str();
  write(name, hdf5_text_type().id(), scalar, &pointer);
}

void Hdf5AttributeWriter::texts(const char* name, const std::vector<std::string>& values) const {
  std::vector<const char*> pointers;
  for (const std::string& value : values) pointers.push_back(value.c_str());
  write(name, hdf5_text_type().id(), ssize64(pointers), pointers.data());
}

void Hdf5AttributeWriter::integer(const char* name, std::int64_t value) const {
  write(name, H5T_NATIVE_INT64, scalar, &value);
}

void Hdf5AttributeWriter::integers(const char* name,
                                   const std::vector<std::int64_t>& values) const {
  write(name, H5T_NATIVE_INT64, ssize64(values), values.data());
}

void Hdf5AttributeWriter::real(const char* name, double value) const {
  write(name, H5T_NATIVE_DOUBLE, scalar, &value);
}

void Hdf5AttributeWriter::single(const char* name, float value) const {
  write(name, H5T_NATIVE_FLOAT, scalar, &value);
}

void Hdf5AttributeWriter::logical(const char* name, bool value) const {
  const Hdf5Handle type = logical_type();
  const std::int8_t number = value ? 1 : 0;
  write(name, type.id(), scalar, &number);
}

void Hdf5AttributeWriter::keyword(const Keyword& keyword) const {
  const char* name = keyword.name.c_str();
  if (const auto* words = std::get_if<std::string>(&keyword.value)) text(name, *words);
  if (const auto* whole = std::get_if<std::int64_t>(&keyword.value)) integer(name, *whole);
  if (const auto* number = std::get_if<double>(&keyword.value)) real(name, *number);
  if (const auto* is_true = std::get_if<bool>(&keyword.value)) logical(name, *is_true);
}

Hdf5Handle Hdf5AttributeReader::open(const char* name) const {
  const htri_t exists = H5Aexists(object_, name);
  if (exists < 0) throw DataError(path_, "its attributes are broken; copy the file again");
  if (exists == 0) return {};
  Hdf5Handle attribute(H5Aopen(object_, name, H5P_DEFAULT), H5Aclose);
  if (!attribute.valid()) throw DataError(path_, fmt::format("attribute {} cannot be read", name));
  const Hdf5Handle space(H5Aget_space(attribute.id()), H5Sclose);
  const hssize_t count = H5Sget_simple_extent_npoints(space.id());
  if (count < 1 || count > max_entries ||
      H5Aget_storage_size(attribute.id()) > (hsize_t{1} << 26)) {
    throw DataError(path_, fmt::format("attribute {} has {} entries; 1 to {} were expected", name,
                                       count, max_entries));
  }
  return attribute;
}

bool Hdf5AttributeReader::has_text(const char* name) const {
  const Hdf5Handle attribute = open(name);
  if (!attribute.valid()) return false;
  const Hdf5Handle type(H5Aget_type(attribute.id()), H5Tclose);
  return H5Tget_class(type.id()) == H5T_STRING;
}

std::vector<std::string> Hdf5AttributeReader::texts(const char* name) const {
  const Hdf5Handle attribute = open(name);
  if (!attribute.valid()) return {};
  const Hdf5Handle type(H5Aget_type(attribute.id()), H5Tclose);
  if (H5Tget_class(type.id()) != H5T_STRING)
    throw DataError(path_, fmt::format("attribute {} is not text", name));
  if (H5Tis_variable_str(type.id()) > 0) {
    std::vector<std::string> values = read_hdf5_variable_length(attribute.id(), name, 1, path_);
    for (std::string& value : values) value.resize(std::min(value.size(), value.find('\0')));
    return values;
  }
  const Hdf5Handle space(H5Aget_space(attribute.id()), H5Sclose);
  const std::int64_t count = H5Sget_simple_extent_npoints(space.id());
  bool good = false;
  std::vector<std::string> values = read_fixed_texts(attribute.id(), type.id(), count, good);
  if (!good)
    throw DataError(path_, fmt::format("attribute {} is broken; copy the file again", name));
  return values;
}

std::optional<std::string> Hdf5AttributeReader::text(const char* name) const {
  const std::vector<std::string> values = texts(name);
  if (values.empty()) return std::nullopt;
  return values.front();
}

std::string Hdf5AttributeReader::text_or_empty(const char* name) const {
  return has_text(name) ? text(name).value_or("") : "";
}

std::optional<std::int64_t> Hdf5AttributeReader::integer(const char* name) const {
  const std::optional<double> value = real(name);
  if (!value) return std::nullopt;
  // Beyond 2^53 doubles cannot represent all integers; no valid count comes near.
  if (!(*value >= -9.0e15 && *value <= 9.0e15) ||
      *value != static_cast<double>(static_cast<std::int64_t>(*value))) {
    throw DataError(path_, fmt::format("attribute {} = {} is not a whole number", name, *value));
  }
  return static_cast<std::int64_t>(*value);
}

std::optional<double> Hdf5AttributeReader::real(const char* name) const {
  const Hdf5Handle attribute = open(name);
  if (!attribute.valid()) return std::nullopt;
  const Hdf5Handle type(H5Aget_type(attribute.id()), H5Tclose);
  const Hdf5Handle space(H5Aget_space(attribute.id()), H5Sclose);
  double value = 0;
  if (H5Sget_simple_extent_npoints(space.id()) != 1 || !is_sound_hdf5_number(type.id()) ||
      H5Aread(attribute.id(), H5T_NATIVE_DOUBLE, &value) < 0) {
    throw DataError(path_, fmt::format("attribute {} is not one number", name));
  }
  return value;
}

std::vector<double> Hdf5AttributeReader::missing_values() const {
  // NetCDF's values where nothing was written, in double and float.
  constexpr double netcdf_fill = 9.9692099683868690e+36;
  std::vector<double> values{netcdf_fill, static_cast<double>(static_cast<float>(netcdf_fill))};
  for (const char* name : {"_FillValue", "missing_value", "BAD_DATA"}) {
    if (has_text(name)) continue;
    const std::optional<double> value = real(name);
    if (value && !std::isinf(*value)) values.push_back(*value);
  }
  return values;
}

std::vector<Keyword> Hdf5AttributeReader::keywords() const {
  std::vector<Keyword> keywords;
  const hssize_t count = std::min<hssize_t>(H5Aget_num_attrs(object_), max_entries);
  for (hssize_t i = 0; i < count; ++i) {
    const Hdf5Handle attribute(H5Aopen_by_idx(object_, ".", H5_INDEX_NAME, H5_ITER_INC,
                                              static_cast<hsize_t>(i), H5P_DEFAULT, H5P_DEFAULT),
                               H5Aclose);
    std::array<char, 256> name{};
    if (!attribute.valid() || H5Aget_name(attribute.id(), name.size(), name.data()) <= 0 ||
        describes_its_file(name.data()))
      continue;
    const Hdf5Handle type(H5Aget_type(attribute.id()), H5Tclose);
    const Hdf5Handle space(H5Aget_space(attribute.id()), H5Sclose);
    if (H5Sget_simple_extent_npoints(space.id()) != 1) continue;
    Keyword keyword{name.data(), {}, {}};
    std::int8_t number = 0;
    try {
      const H5T_class_t type_class = H5Tget_class(type.id());
      if (type_class == H5T_STRING) {
        keyword.value = text(name.data()).value_or("");
      } else if (type_class == H5T_INTEGER && is_sound_hdf5_number(type.id())) {
        std::int64_t whole = 0;
        if (H5Aread(attribute.id(), H5T_NATIVE_INT64, &whole) < 0) continue;
        keyword.value = whole;
      } else if (type_class == H5T_FLOAT) {
        const double value = real(name.data()).value_or(0);
        if (!std::isfinite(value)) continue;
        keyword.value = value;
      } else if (type_class == H5T_ENUM && H5Tget_size(type.id()) == 1 &&
                 H5Aread(attribute.id(), type.id(), &number) >= 0) {
        keyword.value = number != 0;
      } else {
        continue;
      }
    } catch (const DataError&) {
      continue;
    }
    keywords.push_back(std::move(keyword));
  }
  return keywords;
}

namespace {

std::vector<std::string> lines_of(const std::optional<std::string>& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text.value_or(""));
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace

FileOrigin read_hdf5_origin(const Hdf5Handle& file, const Hdf5Handle& dataset,
                            const std::string& path) {
  FileOrigin origin;
  const Hdf5AttributeReader attributes(dataset, path);
  origin.keywords = attributes.keywords();
  try {
    // Lines NAME: TEXT.
    for (const std::string& line : lines_of(attributes.text("keyword_comments"))) {
      for (Keyword& keyword : origin.keywords) {
        if (line.starts_with(keyword.name + ": "))
          keyword.comment = line.substr(keyword.name.size() + 2);
      }
    }
    const Hdf5Handle root(H5Gopen2(file.id(), "/", H5P_DEFAULT), H5Gclose);
    const Hdf5AttributeReader of_root(root, path);
    origin.history = lines_of(of_root.text("history"));
    origin.comments = lines_of(of_root.text("comment"));
  } catch (const DataError&) {
    // Informative only.
  }
  return origin;
}

}  // namespace ringweave::detail::inline io
