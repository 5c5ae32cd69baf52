// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>

#include "base/checked_cast.hpp"
#include "io/file_origin.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/dimensions.hpp"
#include "io/hdf5/grid.hpp"
#include "io/hdf5/map_header.hpp"
#include "io/unit_name.hpp"
#include "ringweave/files.hpp"

namespace ringweave::detail::inline io {
namespace {

const char* indexing_scheme(Ordering ordering) {
  return ordering == Ordering::nested ? "nested" : "ring";
}

/// CF identifies HEALPix grids with nside a power of two by their level; easy.gems' readers use
/// nside and order.
void write_grid_mapping(const Hdf5Handle& file, const std::string& path, const MapHeader& header) {
  const std::int32_t value = 0;
  const Hdf5Handle crs = write_small_dataset(file, path, "crs", H5T_NATIVE_INT32, {}, &value);
  const Hdf5AttributeWriter attributes(crs, path);
  const auto nside = static_cast<std::uint64_t>(header.grid->nside());
  attributes.text("grid_mapping_name", "healpix");
  attributes.text("indexing_scheme", indexing_scheme(header.ordering));
  if (std::has_single_bit(nside)) attributes.integer("refinement_level", std::countr_zero(nside));
  attributes.integer("healpix_nside", header.grid->nside());
  attributes.text("healpix_order", header.ordering == Ordering::nested ? "nest" : "ring");
}

void write_healpix(const Hdf5AttributeWriter& attributes, const MapHeader& header) {
  attributes.text("ORDERING", header.ordering == Ordering::nested ? "NESTED" : "RING");
  attributes.integer("NSIDE", header.grid->nside());
  attributes.text("PIXTYPE", "HEALPIX");
  attributes.text("grid_mapping", "crs");
  if (header.coverage == SkyCoverage::full) {
    attributes.text("INDXSCHM", "IMPLICIT");
    attributes.text("OBJECT", "FULLSKY");
    attributes.integer("FIRSTPIX", 0);
    attributes.integer("LASTPIX", header.grid->n_pixels() - 1);
  } else {
    attributes.text("INDXSCHM", "EXPLICIT");
    attributes.text("OBJECT", "PARTIAL");
  }
}

void write_columns(const Hdf5AttributeWriter& attributes, const MapHeader& header) {
  std::vector<std::string> names, units;
  for (const MapColumn& column : header.columns) {
    names.push_back(column.name);
    units.push_back(column.unit);
  }
  attributes.texts("TTYPE", names);
  if (std::any_of(units.begin(), units.end(), [](const auto& unit) { return !unit.empty(); }))
    attributes.texts("TUNIT", units);
  const std::string unit = astropy_unit(units.front());
  if (!unit.empty()) {
    attributes.text("UNITS", unit);
    attributes.text("units", unit);
  }
  if (const std::string scale = temperature_scale(units.front()); !scale.empty()) {
    attributes.text("temperature_scale", scale);
  }
  attributes.text("long_name",
                  names.size() == 1 ? names.front() : "sky map, one row for each TTYPE");
}

Hdf5Shape list_of(std::int64_t length) {
  return {{length}, Hdf5Shape::Number::integer, 8, Hdf5Shape::Layout::contiguous};
}

/// Creates the dimensions: the columns by name, and the pixel list of a partial map or cells.
void name_dimensions(const Hdf5Handle& parent, const std::string& path, const MapHeader& header,
                     const Hdf5Handle& map, std::int64_t length) {
  std::vector<std::string> names;
  for (const MapColumn& column : header.columns) names.push_back(column.name);
  const Hdf5Handle field = write_hdf5_labels(parent, path, "field", names);
  if (header.coverage == SkyCoverage::full) {
    const Hdf5Handle cell = create_hdf5_dimension(parent, path, "cell", length);
    attach_hdf5_scales(map, path, {&field, &cell});
    return;
  }
  const Hdf5Handle pixel = create_hdf5_dataset(parent, path, "pixel", list_of(length));
  make_hdf5_scale(pixel, path, "pixel");
  if (header.grid->kind() == GridKind::healpix)
    Hdf5AttributeWriter(pixel, path).text("standard_name", "healpix_index");
  attach_hdf5_scales(map, path, {&field, &pixel});
}

void write_conventions(const Hdf5AttributeWriter& attributes, const MapHeader& header) {
  if (!header.coordsys.empty()) attributes.text("COORDSYS", header.coordsys);
  attributes.text("POLCCONV", "COSMO");
  attributes.real("BAD_DATA", unseen);
  if (header.precision == Precision::single_) {
    attributes.single("_FillValue", static_cast<float>(unseen));
  } else {
    attributes.real("_FillValue", unseen);
  }
}

}  // namespace

void write_hdf5_root(const Hdf5Handle& file, const std::string& path, const Provenance& provenance,
                     const char* schema) {
  const Hdf5AttributeWriter attributes(file, path);
  attributes.text("Conventions", "CF-1.13");
  attributes.text("schema", schema);
  attributes.text("schema_version", "1.0");
  attributes.text("creator", provenance.creator);
  attributes.text("creator_version", provenance.version);
  attributes.text("date", provenance.date);
  attributes.text("command_line", provenance.command_line);
  attributes.text("config_json", provenance.config_json);
  attributes.text("history", fmt::format("{}", fmt::join(history_of(provenance), "\n")));
  if (!provenance.origin.comments.empty())
    attributes.text("comment", fmt::format("{}", fmt::join(provenance.origin.comments, "\n")));
  if (!provenance.input.empty()) attributes.text("input", provenance.input);
}

void write_hdf5_processing(const Hdf5Handle& dataset, const std::string& path,
                           const Provenance& provenance) {
  const Hdf5AttributeWriter attributes(dataset, path);
  std::string comments;
  for (const Keyword& keyword : keywords_of(provenance)) {
    if (!keyword.comment.empty())
      comments +=
          fmt::format("{}{}: {}", comments.empty() ? "" : "\n", keyword.name, keyword.comment);
    attributes.keyword(keyword);
  }
  if (!comments.empty()) attributes.text("keyword_comments", comments);
}

void create_hdf5_map(const std::string& path, const MapHeader& header,
                     const Provenance& provenance) {
  const bool partial = header.coverage == SkyCoverage::partial;
  const std::int64_t length = partial ? header.listed_pixels : header.grid->n_pixels();
  const Hdf5Shape shape{{ssize64(header.columns), length},
                        Hdf5Shape::Number::real,
                        header.precision == Precision::single_ ? 4 : 8,
                        Hdf5Shape::Layout::contiguous};
  Hdf5Handle file = create_hdf5(path);
  write_hdf5_root(file, path, provenance);
  const bool is_healpix = header.grid->kind() == GridKind::healpix;
  if (is_healpix) {
    write_grid_mapping(file, path, header);
  } else {
    write_hdf5_grid(file, path, *header.grid);
  }
  Hdf5Handle group;
  if (partial) group = create_hdf5_group(file, path, "partial");
  const Hdf5Handle& parent = partial ? group : file;
  Hdf5Handle map = create_hdf5_dataset(parent, path, "map", shape);
  name_dimensions(parent, path, header, map, length);
  const Hdf5AttributeWriter attributes(map, path);
  if (is_healpix) {
    write_healpix(attributes, header);
  } else {
    attributes.text("GRID", header.grid->name());
  }
  write_columns(attributes, header);
  write_conventions(attributes, header);
  if (const std::string name = extension_of(provenance); !name.empty())
    attributes.text(extension_keyword, name);
  write_hdf5_processing(map, path, provenance);
  map.close();
  group.close();
  close_hdf5(std::move(file), path);
}

}  // namespace ringweave::detail::inline io
