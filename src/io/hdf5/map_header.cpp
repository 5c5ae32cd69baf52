// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/hdf5/map_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/checked_cast.hpp"
#include "io/column_names.hpp"
#include "io/file_origin.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/grid.hpp"
#include "io/hdf5/read_apart.hpp"
#include "io/header_json.hpp"
#include "io/keywords.hpp"
#include "io/pixel_blocks.hpp"
#include "ringweave/error.hpp"
#include "ringweave/files.hpp"

namespace ringweave::detail::inline io {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(UnwrittenColumns, width, numbers)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Hdf5MapInfo, header, values, pixel, bad_data, flipped_column,
                                   unwritten)

namespace {

constexpr std::int64_t max_columns = 10000;

std::optional<std::int64_t> read_nside(const Hdf5AttributeReader& attributes,
                                       const std::string& path,
                                       std::vector<std::string>& warnings) {
  std::optional<std::int64_t> nside;
  if (attributes.has_text("NSIDE")) {
    const std::string text = *attributes.text("NSIDE");
    std::int64_t value = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), value).ptr !=
        text.data() + text.size()) {
      throw DataError(path, fmt::format("NSIDE is the text '{}', not a number", text));
    }
    warnings.push_back(fmt::format("NSIDE is the text '{}'; taken as a number", text));
    nside = value;
  } else {
    nside = attributes.integer("NSIDE");
  }
  if (nside && (*nside < 1 || *nside > max_nside)) {
    throw DataError(path, fmt::format("NSIDE = {}; expected 1 to {}", *nside, max_nside));
  }
  return nside;
}

void set_grid(Hdf5MapInfo& info, const Hdf5Handle& file, const std::string& path,
              const Hdf5AttributeReader& attributes) {
  MapHeader& header = info.header;
  const std::int64_t length = info.values.dims.back();
  std::optional<std::int64_t> nside = read_nside(attributes, path, header.warnings);
  if (!nside && has_hdf5_object(file, "grid")) {
    header.grid = read_hdf5_grid(file, path);
  } else {
    if (!nside && header.coverage == SkyCoverage::full) {
      nside = std::llround(std::sqrt(static_cast<double>(length) / 12));
      header.warnings.push_back(
          fmt::format("no NSIDE; {} pixels taken as nside {}", length, *nside));
    }
    if (!nside)
      throw DataError(path,
                      "has neither NSIDE nor /grid, so its pixels have no place on the sphere");
    if (header.coverage == SkyCoverage::full &&
        (*nside > max_nside || length != 12 * *nside * *nside)) {
      throw DataError(
          path,
          fmt::format("/map has {} pixels but NSIDE = {} means {}; the file contradicts itself",
                      length, *nside, 12 * *nside * *nside));
    }
    header.grid = std::make_shared<const RingGrid>(RingGrid::healpix(*nside));
  }
  if (header.coverage == SkyCoverage::full && length != header.grid->n_pixels()) {
    throw DataError(path, fmt::format("/map has {} pixels but its /grid has {}", length,
                                      header.grid->n_pixels()));
  }
  if (header.listed_pixels > header.grid->n_pixels()) {
    throw DataError(path, fmt::format("/partial lists {} pixels but the whole sky has {}",
                                      header.listed_pixels, header.grid->n_pixels()));
  }
}

void set_ordering(MapHeader& header, const std::string& path,
                  const Hdf5AttributeReader& attributes) {
  const std::optional<std::string> stored = attributes.text("ORDERING");
  if (!stored) {
    if (header.grid->kind() == GridKind::healpix)
      header.warnings.push_back("no ORDERING; taken as RING");
    return;
  }
  const std::string ordering = upper(*stored);
  if (ordering == "NESTED" || ordering == "NEST") {
    header.ordering = Ordering::nested;
    const std::int64_t nside = header.grid->nside();
    if (nside == 0 || (nside & (nside - 1)) != 0) {
      throw DataError(
          path,
          fmt::format("is NESTED, which nside = {} cannot be; it must be a power of two", nside));
    }
  } else if (ordering != "RING") {
    throw DataError(path, fmt::format("ORDERING = '{}'; expected RING or NESTED", *stored));
  }
}

void set_columns(Hdf5MapInfo& info, const std::string& path,
                 const Hdf5AttributeReader& attributes) {
  MapHeader& header = info.header;
  const std::int64_t n_columns = info.values.dims.size() == 2 ? info.values.dims[0] : 1;
  if (n_columns > max_columns) {
    throw DataError(
        path,
        fmt::format("has {} columns of {} pixels; expected at most {} columns: is it transposed?",
                    n_columns, info.values.dims.back(), max_columns));
  }
  std::vector<std::string> names = attributes.texts("TTYPE");
  if (ssize64(names) != n_columns) names = standard_column_names(n_columns);
  std::vector<std::string> units = attributes.texts("TUNIT");
  if (ssize64(units) != n_columns) {
    const std::optional<std::string> all = attributes.text("UNITS");
    units.assign(to_size(n_columns), all ? *all : attributes.text("units").value_or(""));
  }
  const bool are_whole = info.values.number == Hdf5Shape::Number::integer;
  const int integer_bytes = are_whole ? static_cast<int>(info.values.bytes) : 0;
  for (std::size_t c = 0; c < to_size(n_columns); ++c)
    header.columns.push_back({names[c], units[c], integer_bytes});
}

void set_conventions(Hdf5MapInfo& info, const Hdf5AttributeReader& attributes) {
  MapHeader& header = info.header;
  header.coordsys = attributes.text("COORDSYS").value_or("");
  const bool are_real = info.values.number == Hdf5Shape::Number::real;
  header.precision =
      fits_single(are_real, info.values.bytes) ? Precision::single_ : Precision::double_;
  if (attributes.has_text("BAD_DATA")) {
    header.warnings.push_back("BAD_DATA is text; taken as the usual -1.6375e30");
  } else if (const std::optional<double> bad = attributes.real("BAD_DATA");
             bad && !is_unseen(*bad)) {
    info.bad_data = bad;
  }
  if (upper(attributes.text("POLCCONV").value_or("COSMO")) != "IAU") return;
  for (std::size_t c = 0; c < header.columns.size(); ++c) {
    if (is_stokes(header.columns[c].name, 'U')) info.flipped_column = static_cast<std::int64_t>(c);
  }
  if (info.flipped_column < 0 && header.columns.size() == 3) info.flipped_column = 2;
  header.polarisation_was_iau = info.flipped_column >= 0;
}

void set_unwritten(Hdf5MapInfo& info, const Hdf5Handle& dataset, const std::string& path) {
  info.unwritten = find_unwritten_columns(dataset, path, hdf5_full_map);
  if (info.unwritten.numbers.empty()) return;
  info.header.warnings.push_back(
      fmt::format("{} of {} pixels were never written; they count as UNSEEN",
                  ssize64(info.unwritten.numbers) * info.unwritten.width, info.values.dims.back()));
}

}  // namespace

Hdf5MapInfo read_hdf5_map_info(const std::string& path) {
  const Hdf5Handle file = open_hdf5(path);
  Hdf5MapInfo info;
  const bool full = has_hdf5_object(file, hdf5_full_map);
  if (!full && !has_hdf5_object(file, hdf5_partial_map)) {
    const std::string held = words_of_content(file, path);
    throw DataError(path,
                    fmt::format("holds {}; expected a map: /map (columns, pixels), /partial/pixel "
                                "and /partial/map, or variables over latitude and longitude (lat, "
                                "lon)",
                                held.empty() ? "no map" : held));
  }
  const char* name = full ? hdf5_full_map : hdf5_partial_map;
  info.values = inspect_hdf5_dataset(file, path, name, 2, EmptyDataset::refuse,
                                     full ? MissingChunks::accept : MissingChunks::refuse);
  if (info.values.number == Hdf5Shape::Number::complex)
    throw DataError(path, fmt::format("/{} is complex", name));
  if (!full) {
    info.header.coverage = SkyCoverage::partial;
    info.pixel = inspect_hdf5_dataset(file, path, hdf5_partial_pixel);
    info.header.listed_pixels = info.pixel->dims.back();
    if (info.pixel->number != Hdf5Shape::Number::integer || info.pixel->dims.size() != 1 ||
        info.pixel->dims[0] != info.values.dims.back()) {
      throw DataError(
          path,
          fmt::format("/partial/pixel must be {} integers, one for each column of /partial/map",
                      info.values.dims.back()));
    }
  }
  const Hdf5Handle dataset(H5Dopen2(file.id(), name, H5P_DEFAULT), H5Dclose);
  const Hdf5AttributeReader attributes(dataset, path);
  set_grid(info, file, path, attributes);
  set_ordering(info.header, path, attributes);
  set_columns(info, path, attributes);
  set_conventions(info, attributes);
  if (full) set_unwritten(info, dataset, path);
  info.header.origin = read_hdf5_origin(file, dataset, path);
  if (attributes.has_text(extension_keyword))
    info.header.origin.keywords.push_back(
        {extension_keyword, attributes.text(extension_keyword).value_or(""), ""});
  return info;
}

Hdf5MapInfo share_hdf5_map_info(const Communicator& comm, const std::string& path) {
  return share_from_root(
      comm, [&] { return read_apart(path, [&] { return read_hdf5_map_info(path); }); });
}

}  // namespace ringweave::detail::inline io
