// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/hdf5/dimensions.hpp"

#include <fmt/format.h>
#include <hdf5_hl.h>

#include "base/checked_cast.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/file.hpp"
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

bool is_scale(const Hdf5Handle& file, const std::string& path, const std::string& name) {
  const Hdf5Handle dataset(H5Dopen2(file.id(), name.c_str(), H5P_DEFAULT), H5Dclose);
  if (!dataset.valid()) return false;
  const Hdf5AttributeReader attributes(dataset, path);
  return attributes.has_text("CLASS") && attributes.text("CLASS") == "DIMENSION_SCALE";
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
                        std::initializer_list<const Hdf5Handle*> scales) {
  unsigned axis = 0;
  for (const Hdf5Handle* scale : scales) {
    if (H5DSattach_scale(dataset.id(), scale->id(), axis++) < 0)
      throw ResourceError(fmt::format("{}: cannot attach the dimensions of a dataset", path));
  }
}

std::vector<std::string> hdf5_datasets_without_scales(const Hdf5Handle& file,
                                                      const std::string& path,
                                                      const std::string& group) {
  std::vector<std::string> names = hdf5_datasets(file, path, group);
  std::erase_if(names, [&](const std::string& name) {
    return is_scale(file, path, fmt::format("{}/{}", group, name));
  });
  return names;
}

}  // namespace ringweave::detail::inline io
