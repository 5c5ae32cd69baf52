// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/hdf5/file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/checked_cast.hpp"
#include "io/hdf5/memory_driver.hpp"
#include "io/hdf5/read_driver.hpp"
#include "io/input_file.hpp"
#include "io/raw_file.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline io {
namespace {

void quiet_hdf5() {
  H5open();
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  H5PLset_loading_state(0);
}

Hdf5Handle access_properties() {
  Hdf5Handle properties(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_fclose_degree(properties.id(), H5F_CLOSE_STRONG);
  return properties;
}

Hdf5Handle memory_properties() {
  Hdf5Handle properties = access_properties();
  write_in_memory(properties.id());
  return properties;
}

[[noreturn]] void refuse_to_open_hdf5(const std::string& path) {
  if (H5Fis_hdf5(path.c_str()) > 0)
    throw DataError(path, "cannot be opened as HDF5: it is cut short or broken; copy it again");
  std::string begin(3, ' ');
  std::ifstream(path, std::ios::binary).read(begin.data(), 3);
  throw DataError(path, begin == "CDF" ? "is NetCDF of a classic kind; make NetCDF-4 of it with "
                                         "`nccopy -k nc4 IN OUT`"
                                       : "is not an HDF5 file (its signature is missing)");
}

Hdf5Handle open_checked(const Hdf5Handle& file, const std::string& path, const std::string& name) {
  if (!has_hdf5_object(file, name)) {
    throw DataError(path,
                    fmt::format("has no dataset /{} (links to elsewhere are not followed)", name));
  }
  Hdf5Handle dataset(H5Dopen2(file.id(), name.c_str(), H5P_DEFAULT), H5Dclose);
  if (!dataset.valid())
    throw DataError(path, fmt::format("/{} is not a dataset that can be opened", name));
  return dataset;
}

Hdf5Shape::Layout checked_layout(const Hdf5Handle& dataset, const std::string& path,
                                 const std::string& name) {
  const Hdf5Handle properties(H5Dget_create_plist(dataset.id()), H5Pclose);
  const H5D_layout_t layout = H5Pget_layout(properties.id());
  if (layout != H5D_CONTIGUOUS && layout != H5D_CHUNKED) {
    throw DataError(
        path,
        fmt::format(
            "/{} is neither contiguous nor chunked (virtual and compact datasets are not read); "
            "copy it with h5repack",
            name));
  }
  if (H5Pget_external_count(properties.id()) != 0) {
    throw DataError(
        path, fmt::format("/{} keeps its numbers in other files; copy it with h5repack", name));
  }
  const int n_filters = H5Pget_nfilters(properties.id());
  for (int i = 0; i < n_filters; ++i) {
    unsigned flags = 0;
    std::size_t n_values = 0;
    const H5Z_filter_t filter = H5Pget_filter2(properties.id(), static_cast<unsigned>(i), &flags,
                                               &n_values, nullptr, 0, nullptr, nullptr);
    if (filter != H5Z_FILTER_DEFLATE && filter != H5Z_FILTER_SHUFFLE &&
        filter != H5Z_FILTER_FLETCHER32) {
      throw DataError(
          path,
          fmt::format(
              "/{} uses HDF5 filter {}; only shuffle, deflate and Fletcher32 are read: copy it "
              "with h5repack -f NONE",
              name, static_cast<int>(filter)));
    }
  }
  return layout == H5D_CONTIGUOUS ? Hdf5Shape::Layout::contiguous : Hdf5Shape::Layout::chunked;
}

bool is_complex(hid_t type) {
  if (H5Tget_class(type) != H5T_COMPOUND || H5Tget_nmembers(type) != 2) return false;
  if (H5Tget_member_index(type, "r") != 0 || H5Tget_member_index(type, "i") != 1) return false;
  const Hdf5Handle real(H5Tget_member_type(type, 0), H5Tclose);
  const Hdf5Handle imaginary(H5Tget_member_type(type, 1), H5Tclose);
  return H5Tget_class(real.id()) == H5T_FLOAT && H5Tequal(real.id(), imaginary.id()) > 0 &&
         H5Tget_member_offset(type, 0) == 0 &&
         H5Tget_member_offset(type, 1) == H5Tget_size(real.id()) &&
         H5Tget_size(type) == 2 * H5Tget_size(real.id());
}

std::vector<std::uint8_t> encoded_type(hid_t type) {
  std::size_t size = 0;
  H5Tencode(type, nullptr, &size);
  std::vector<std::uint8_t> bytes(size);
  H5Tencode(type, bytes.data(), &size);
  return bytes;
}

void set_number(Hdf5Shape& shape, hid_t type, const std::string& path, const std::string& name) {
  const H5T_class_t type_class = H5Tget_class(type);
  if (type_class == H5T_FLOAT) {
    shape.number = Hdf5Shape::Number::real;
  } else if (type_class == H5T_INTEGER) {
    shape.number = Hdf5Shape::Number::integer;
  } else if (is_complex(type)) {
    shape.number = Hdf5Shape::Number::complex;
  } else {
    throw DataError(
        path,
        fmt::format("/{} does not hold numbers (expected floats, integers or complex {{r, i}})",
                    name));
  }
  const std::size_t parts = shape.number == Hdf5Shape::Number::complex ? 2 : 1;
  const Hdf5Handle part(parts == 2 ? H5Tget_member_type(type, 0) : H5Tcopy(type), H5Tclose);
  if (!is_sound_hdf5_number(part.id()))
    throw DataError(path, fmt::format("the type of /{} is broken; copy the file again", name));
  shape.bytes = checked_cast<std::int64_t>(H5Tget_size(type) / parts, "bytes of a number");
  if (shape.bytes < 1 || shape.bytes > 8) {
    throw DataError(
        path, fmt::format("/{} holds numbers of {} bytes; 1 to 8 are read", name, shape.bytes));
  }
  shape.type = encoded_type(part.id());
}

std::vector<std::int64_t> checked_dims(const Hdf5Handle& dataset, const std::string& path,
                                       const std::string& name, int most_dims, EmptyDataset empty) {
  const Hdf5Handle space(H5Dget_space(dataset.id()), H5Sclose);
  const int rank = H5Sget_simple_extent_ndims(space.id());
  if (rank < 1 || rank > most_dims) {
    throw DataError(path,
                    fmt::format("/{} has {} dimensions; {} expected", name, rank,
                                most_dims == 1 ? "1 was" : fmt::format("1 to {} were", most_dims)));
  }
  std::array<hsize_t, H5S_MAX_RANK> dims{};
  H5Sget_simple_extent_dims(space.id(), dims.data(), nullptr);
  std::int64_t total = 1;
  for (int d = 0; d < rank; ++d) {
    if (!std::in_range<std::int64_t>(dims[to_size(d)]) ||
        __builtin_mul_overflow(total, static_cast<std::int64_t>(dims[to_size(d)]), &total) ||
        total > INT64_MAX / 16) {
      throw DataError(path,
                      fmt::format("/{} claims dimensions whose product passes 64 bits", name));
    }
  }
  if (total == 0 && empty == EmptyDataset::refuse)
    throw DataError(path, fmt::format("/{} is empty", name));
  std::vector<std::int64_t> result;
  for (int d = 0; d < rank; ++d) result.push_back(static_cast<std::int64_t>(dims[to_size(d)]));
  return result;
}

/// Empty dims: a scalar.
Hdf5Handle create_contiguous(const Hdf5Handle& parent, const std::string& path, const char* name,
                             hid_t type, const std::vector<std::int64_t>& dims) {
  std::vector<hsize_t> extents;
  for (const std::int64_t dim : dims) extents.push_back(static_cast<hsize_t>(dim));
  const Hdf5Handle space(
      dims.empty() ? H5Screate(H5S_SCALAR)
                   : H5Screate_simple(static_cast<int>(dims.size()), extents.data(), nullptr),
      H5Sclose);
  const Hdf5Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_layout(creation.id(), H5D_CONTIGUOUS);
  H5Pset_alloc_time(creation.id(), H5D_ALLOC_TIME_EARLY);
  H5Pset_fill_time(creation.id(), H5D_FILL_TIME_NEVER);
  H5Pset_obj_track_times(creation.id(), false);
  Hdf5Handle dataset(
      H5Dcreate2(parent.id(), name, type, space.id(), H5P_DEFAULT, creation.id(), H5P_DEFAULT),
      H5Dclose);
  if (!dataset.valid())
    throw ResourceError(fmt::format("{}: cannot create dataset {}", path, name));
  return dataset;
}

/// Returns the names of the objects of one type in a group, ascending.
std::vector<std::string> names_in(const Hdf5Handle& file, const std::string& path,
                                  const std::string& group, H5I_type_t type) {
  struct Search {
    H5I_type_t type;
    std::vector<std::string> names;
  } search{type, {}};
  if (group != "/" && !has_hdf5_object(file, group)) return {};
  const Hdf5Handle opened(H5Gopen2(file.id(), group.c_str(), H5P_DEFAULT), H5Gclose);
  if (!opened.valid()) return {};
  const auto visit = [](hid_t location, const char* name, const H5L_info_t* link,
                        void* into) -> herr_t {
    if (link->type != H5L_TYPE_HARD) return 0;
    const hid_t object = H5Oopen(location, name, H5P_DEFAULT);
    if (object < 0) return 0;
    auto* const found = static_cast<Search*>(into);
    if (H5Iget_type(object) == found->type) found->names.emplace_back(name);
    H5Oclose(object);
    return 0;
  };
  if (H5Literate(opened.id(), H5_INDEX_NAME, H5_ITER_INC, nullptr, visit, &search) < 0)
    throw DataError(path, fmt::format("its group {} is broken; copy the file again", group));
  return std::move(search.names);
}

}  // namespace

Hdf5Handle open_hdf5(const std::string& path) {
  quiet_hdf5();
  check_input_file(path);
  const Hdf5Handle properties = access_properties();
  read_without_accumulator(properties.id(), path);
  Hdf5Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, properties.id()), H5Fclose);
  if (!file.valid()) refuse_to_open_hdf5(path);
  return file;
}

Hdf5Handle create_hdf5(const std::string& path) {
  quiet_hdf5();
  const Hdf5Handle access = memory_properties();
  const Hdf5Handle creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
  H5Pset_obj_track_times(creation.id(), false);
  Hdf5Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation.id(), access.id()), H5Fclose);
  if (!file.valid()) throw ResourceError(fmt::format("{}: no memory for its header", path));
  return file;
}

Hdf5Handle create_hdf5_group(const Hdf5Handle& parent, const std::string& path, const char* name) {
  const Hdf5Handle creation(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
  H5Pset_obj_track_times(creation.id(), false);
  Hdf5Handle group(H5Gcreate2(parent.id(), name, H5P_DEFAULT, creation.id(), H5P_DEFAULT),
                   H5Gclose);
  if (!group.valid()) throw ResourceError(fmt::format("{}: cannot create group {}", path, name));
  return group;
}

void close_hdf5(Hdf5Handle file, const std::string& path) {
  const std::shared_ptr<const Hdf5Image> image = image_of(file);
  if (!image || !file.close())
    throw ResourceError(fmt::format("{}: no memory for its header", path));
  RawFile stored = image->is_new() ? RawFile::create(path) : RawFile::open_to_write(path);
  stored.reserve(image->size());
  image->save(stored);
  stored.close();
  image->require_saved(path);
}

Hdf5Handle reopen_hdf5(const std::string& path) {
  const Hdf5Handle access = memory_properties();
  Hdf5Handle file(H5Fopen(path.c_str(), H5F_ACC_RDWR, access.id()), H5Fclose);
  if (!file.valid()) throw ResourceError(fmt::format("{}: cannot be opened again", path));
  return file;
}

bool has_hdf5_object(const Hdf5Handle& file, const std::string& name) {
  for (std::size_t end = name.find('/'); true; end = name.find('/', end + 1)) {
    const std::string part = name.substr(0, end);
    H5L_info_t link;
    if (H5Lexists(file.id(), part.c_str(), H5P_DEFAULT) <= 0 ||
        H5Lget_info(file.id(), part.c_str(), &link, H5P_DEFAULT) < 0 ||
        link.type != H5L_TYPE_HARD) {
      return false;
    }
    if (end == std::string::npos) return true;
  }
}

std::vector<std::string> hdf5_datasets(const Hdf5Handle& file, const std::string& path,
                                       const std::string& group) {
  return names_in(file, path, group, H5I_DATASET);
}

std::vector<std::string> hdf5_groups(const Hdf5Handle& file, const std::string& path,
                                     const std::string& group) {
  return names_in(file, path, group, H5I_GROUP);
}

std::string words_of_content(const Hdf5Handle& file, const std::string& path) {
  if (has_hdf5_object(file, "map")) return "a sky map (/map)";
  if (has_hdf5_object(file, "partial/map")) return "a partial sky map (/partial)";
  if (!hdf5_datasets(file, path, "alm").empty()) return "a_lm (/alm)";
  if (!hdf5_datasets(file, path, "cl").empty()) return "spectra (/cl)";
  return {};
}

bool is_sound_hdf5_number(hid_t type) {
  const std::size_t bytes = H5Tget_size(type);
  constexpr std::size_t most_bytes = 16;
  if (bytes < 1 || bytes > most_bytes) return false;
  const std::size_t bits = 8 * bytes;
  const auto is_inside = [&](std::size_t first, std::size_t count, std::size_t most) {
    return count >= 1 && count <= std::min(bits, most) && first <= bits - count;
  };
  const int offset = H5Tget_offset(type);
  if (offset < 0 || !is_inside(static_cast<std::size_t>(offset), H5Tget_precision(type), bits))
    return false;
  if (H5Tget_class(type) != H5T_FLOAT) return H5Tget_class(type) == H5T_INTEGER;
  std::size_t sign = 0, exponent = 0, exponent_bits = 0, mantissa = 0, mantissa_bits = 0;
  return H5Tget_fields(type, &sign, &exponent, &exponent_bits, &mantissa, &mantissa_bits) >= 0 &&
         is_inside(sign, 1, bits) && is_inside(exponent, exponent_bits, 32) &&
         is_inside(mantissa, mantissa_bits, bits);
}

void to_json(nlohmann::json& encoded, const Hdf5Shape& shape) {
  encoded = {shape.dims,   shape.number, shape.bytes,      shape.layout,
             shape.offset, shape.type,   shape.file_bytes, shape.modified};
}

void from_json(const nlohmann::json& encoded, Hdf5Shape& shape) {
  encoded[0].get_to(shape.dims);
  encoded[1].get_to(shape.number);
  encoded[2].get_to(shape.bytes);
  encoded[3].get_to(shape.layout);
  encoded[4].get_to(shape.offset);
  encoded[5].get_to(shape.type);
  encoded[6].get_to(shape.file_bytes);
  encoded[7].get_to(shape.modified);
}

std::int64_t total_bytes(const Hdf5Shape& shape) {
  std::int64_t bytes = shape.bytes * (shape.number == Hdf5Shape::Number::complex ? 2 : 1);
  for (const std::int64_t dim : shape.dims)
    bytes = checked_product(bytes, dim, "bytes of a dataset");
  return bytes;
}

Hdf5Shape inspect_hdf5_dataset(const Hdf5Handle& file, const std::string& path,
                               const std::string& name, int most_dims, EmptyDataset empty,
                               MissingChunks missing) {
  const Hdf5Handle dataset = open_checked(file, path, name);
  const InputStamp stamp(path);
  Hdf5Shape shape;
  shape.file_bytes = stamp.size();
  shape.modified = stamp.modified();
  shape.layout = checked_layout(dataset, path, name);
  const Hdf5Handle type(H5Dget_type(dataset.id()), H5Tclose);
  set_number(shape, type.id(), path, name);
  shape.dims = checked_dims(dataset, path, name, most_dims, empty);
  if (missing == MissingChunks::refuse) require_written_chunks(dataset, path, name);
  // A dataset without numbers may have no place in the file.
  if (shape.layout == Hdf5Shape::Layout::contiguous && total_bytes(shape) > 0) {
    hsize_t file_bytes = 0;
    H5Fget_filesize(file.id(), &file_bytes);
    const haddr_t offset = H5Dget_offset(dataset.id());
    const hsize_t bytes = static_cast<hsize_t>(total_bytes(shape));
    if (offset == HADDR_UNDEF || offset > file_bytes || bytes > file_bytes - offset) {
      throw DataError(
          path,
          fmt::format("/{} needs {} bytes but the file ({} bytes) does not hold them; copy it "
                      "again",
                      name, bytes, file_bytes));
    }
    shape.offset = checked_cast<std::int64_t>(offset, "place of a dataset");
  }
  return shape;
}

hid_t written_hdf5_number(const Hdf5Shape& shape) {
  if (shape.number == Hdf5Shape::Number::integer) return H5T_STD_I64LE;
  return shape.bytes == 4 ? H5T_IEEE_F32LE : H5T_IEEE_F64LE;
}

Hdf5Handle create_hdf5_dataset(const Hdf5Handle& parent, const std::string& path, const char* name,
                               const Hdf5Shape& shape) {
  const hid_t number = written_hdf5_number(shape);
  if (shape.number != Hdf5Shape::Number::complex)
    return create_contiguous(parent, path, name, number, shape.dims);
  const Hdf5Handle pair(H5Tcreate(H5T_COMPOUND, 2 * to_size(shape.bytes)), H5Tclose);
  H5Tinsert(pair.id(), "r", 0, number);
  H5Tinsert(pair.id(), "i", to_size(shape.bytes), number);
  return create_contiguous(parent, path, name, pair.id(), shape.dims);
}

Hdf5Handle write_small_dataset(const Hdf5Handle& parent, const std::string& path, const char* name,
                               hid_t type, const std::vector<std::int64_t>& dims,
                               const void* values) {
  Hdf5Handle dataset = create_contiguous(parent, path, name, type, dims);
  if (H5Dwrite(dataset.id(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0) {
    throw ResourceError(fmt::format("{}: cannot write {}; is the disk full?", path, name));
  }
  return dataset;
}

std::vector<double> read_small_dataset(const Hdf5Handle& file, const std::string& path,
                                       const std::string& name, std::int64_t limit) {
  const Hdf5Shape shape = inspect_hdf5_dataset(file, path, name);
  std::int64_t count = 1;
  for (const std::int64_t dim : shape.dims) count *= dim;
  if (count > limit || shape.number == Hdf5Shape::Number::complex) {
    throw DataError(
        path, fmt::format("/{} must hold real numbers, at most {}; it has {}", name, limit, count));
  }
  const Hdf5Handle dataset = open_checked(file, path, name);
  std::vector<double> values(to_size(count));
  if (H5Dread(dataset.id(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0) {
    throw DataError(path,
                    fmt::format("/{} cannot be read: the file is broken; copy it again", name));
  }
  return values;
}

}  // namespace ringweave::detail::inline io
