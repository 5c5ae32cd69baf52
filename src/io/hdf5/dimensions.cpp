// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/hdf5/dimensions.hpp"

#include <fmt/format.h>
#include <hdf5_hl.h>

#include <cstring>

#include "base/checked_cast.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/file.hpp"
#include "io/hdf5/global_heap.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline io {
namespace {

/// Unlike datasets of numbers it gets disk space only when it is written, if ever.
Hdf5Handle create_scale(const Hdf5Handle& parent, const std::string& path, const char* name,
                        hid_t type, std::int64_t length) {
  const auto extent = static_cast<hsize_t>(length);
  const Hdf5Handle space(H5Screate_simple(1, &extent, nullptr), H5Sclose);
  const Hdf5Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_layout(creation.id(), H5D_CONTIGUOUS);
  H5Pset_alloc_time(creation.id(), H5D_ALLOC_TIME_LATE);
  H5Pset_obj_track_times(creation.id(), false);
  Hdf5Handle scale(
      H5Dcreate2(parent.id(), name, type, space.id(), H5P_DEFAULT, creation.id(), H5P_DEFAULT),
      H5Dclose);
  if (!scale.valid())
    throw ResourceError(fmt::format("{}: cannot create dimension {}", path, name));
  return scale;
}

}  // namespace

void make_hdf5_scale(const Hdf5Handle& dataset, const std::string& path, const char* name) {
  if (H5DSset_scale(dataset.id(), name) < 0)
    throw ResourceError(fmt::format("{}: cannot make {} a dimension", path, name));
}

Hdf5Handle write_hdf5_labels(const Hdf5Handle& parent, const std::string& path, const char* name,
                             const std::vector<std::string>& labels) {
  const Hdf5Handle type = hdf5_text_type();
  Hdf5Handle scale = create_scale(parent, path, name, type.id(), ssize64(labels));
  std::vector<const char*> texts;
  for (const std::string& label : labels) texts.push_back(label.c_str());
  if (H5Dwrite(scale.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, texts.data()) < 0)
    throw ResourceError(fmt::format("{}: cannot write {}; is the disk full?", path, name));
  make_hdf5_scale(scale, path, name);
  return scale;
}

Hdf5Handle create_hdf5_dimension(const Hdf5Handle& parent, const std::string& path,
                                 const char* name, std::int64_t length) {
  Hdf5Handle scale = create_scale(parent, path, name, H5T_IEEE_F32BE, length);
  // The words by which NetCDF-4 knows it, and the length in ten characters.
  make_hdf5_scale(
      scale, path,
      fmt::format("This is a netCDF dimension but not a netCDF variable.{:>10}", length).c_str());
  return scale;
}

void attach_hdf5_scales(const Hdf5Handle& dataset, const std::string& path,
                        const std::vector<const Hdf5Handle*>& scales) {
  unsigned axis = 0;
  for (const Hdf5Handle* scale : scales) {
    if (H5DSattach_scale(dataset.id(), scale->id(), axis++) < 0)
      throw ResourceError(fmt::format("{}: cannot attach the dimensions of a dataset", path));
  }
}

std::vector<std::string> hdf5_scales_of(const Hdf5Handle& dataset, const std::string& path) {
  constexpr const char* name = "DIMENSION_LIST";
  if (H5Aexists(dataset.id(), name) <= 0) return {};
  const Hdf5Handle attribute(H5Aopen(dataset.id(), name, H5P_DEFAULT), H5Aclose);
  if (!attribute.valid()) return {};
  const Hdf5Handle type(H5Aget_type(attribute.id()), H5Tclose);
  const Hdf5Handle entry(H5Tget_super(type.id()), H5Tclose);
  const Hdf5Handle space(H5Aget_space(attribute.id()), H5Sclose);
  if (H5Tget_class(type.id()) != H5T_VLEN || H5Tequal(entry.id(), H5T_STD_REF_OBJ) <= 0 ||
      H5Sget_simple_extent_npoints(space.id()) > H5S_MAX_RANK)
    return {};
  return read_hdf5_variable_length(attribute.id(), name, sizeof(hobj_ref_t), path);
}

bool lists_hdf5_scale(const Hdf5Handle& file, const std::string& scales, const std::string& name) {
  hobj_ref_t wanted = 0;
  H5Rcreate(&wanted, file.id(), name.c_str(), H5R_OBJECT, -1);
  for (std::size_t at = 0; at + sizeof wanted <= scales.size(); at += sizeof wanted) {
    hobj_ref_t listed = 0;
    std::memcpy(&listed, scales.data() + at, sizeof listed);
    if (listed == wanted) return true;
  }
  return false;
}

bool is_hdf5_scale(const Hdf5Handle& file, const std::string& path, const std::string& name) {
  const Hdf5Handle dataset(H5Dopen2(file.id(), name.c_str(), H5P_DEFAULT), H5Dclose);
  if (!dataset.valid()) return false;
  const Hdf5AttributeReader attributes(dataset, path);
  return attributes.has_text("CLASS") && attributes.text("CLASS") == "DIMENSION_SCALE";
}

std::vector<std::string> hdf5_datasets_without_scales(const Hdf5Handle& file,
                                                      const std::string& path,
                                                      const std::string& group) {
  std::vector<std::string> names = hdf5_datasets(file, path, group);
  std::erase_if(names, [&](const std::string& name) {
    return is_hdf5_scale(file, path, fmt::format("{}/{}", group, name));
  });
  return names;
}

}  // namespace ringweave::detail::inline io
