// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/hdf5/handle.hpp"
#include "ringweave/files.hpp"

namespace ringweave::detail::inline io {

/// Returns the type of texts of any length in UTF-8.
Hdf5Handle hdf5_text_type();

/// Writes attributes of one object. Strings are variable-length UTF-8 (Python readers need that to
/// get `str`) and scalars are scalars. Not collective. Error  ResourceError naming the file.
class Hdf5AttributeWriter {
 public:
  Hdf5AttributeWriter(const Hdf5Handle& object, std::string path)
      : object_(object.id()), path_(std::move(path)) {}
  void text(const char* name, const std::string& value) const;
  void texts(const char* name, const std::vector<std::string>& values) const;
  void integer(const char* name, std::int64_t value) const;
  void integers(const char* name, const std::vector<std::int64_t>& values) const;
  void real(const char* name, double value) const;
  void single(const char* name, float value) const;
  void logical(const char* name, bool value) const;  ///< as h5py does
  void keyword(const Keyword& keyword) const;        ///< without its comment

 private:
  void write(const char* name, hid_t type, std::int64_t count, const void* values) const;
  hid_t object_;
  std::string path_;
};

/// Reads attributes of one object leniently: scalars or arrays of one, strings of fixed or variable
/// length, numbers of any type. Absent attributes are nullopt or empty. Not collective. Error
/// DataError when an attribute exists but cannot be understood.
class Hdf5AttributeReader {
 public:
  Hdf5AttributeReader(const Hdf5Handle& object, std::string path)
      : object_(object.id()), path_(std::move(path)) {}
  std::optional<std::string> text(const char* name) const;
  std::vector<std::string> texts(const char* name) const;
  std::optional<std::int64_t> integer(const char* name) const;
  std::optional<double> real(const char* name) const;
  bool has_text(const char* name) const;
  /// Returns text(); empty also where the attribute is no text.
  std::string text_or_empty(const char* name) const;
  /// Returns the numbers that stand for no value, NaN among them: those of _FillValue,
  /// missing_value and BAD_DATA, and NetCDF's where nothing was written.
  std::vector<double> missing_values() const;
  /// Returns the attributes with one text or number, without those that describe their file alone;
  /// those that cannot be read are left out.
  std::vector<Keyword> keywords() const;

 private:
  Hdf5Handle open(const char* name) const;
  hid_t object_;
  std::string path_;
};

/// Reads the history of a file and the attributes of its dataset that are carried over. Not
/// collective.
FileOrigin read_hdf5_origin(const Hdf5Handle& file, const Hdf5Handle& dataset,
                            const std::string& path);

}  // namespace ringweave::detail::inline io
