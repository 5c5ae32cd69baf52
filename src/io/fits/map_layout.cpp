// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/fits/map_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <memory>
#include <string_view>

#include "base/checked_cast.hpp"
#include "io/column_names.hpp"
#include "io/file_origin.hpp"
#include "io/fits/header.hpp"
#include "io/fits/table.hpp"
#include "io/keywords.hpp"
#include "io/pixel_blocks.hpp"
#include "ringweave/error.hpp"
#include "ringweave/files.hpp"
#include "sphere/kernel/kernel_table.hpp"

namespace ringweave::detail::inline io {
namespace {

/// Returns a text keyword in capitals; empty when it is absent or blank.
std::string word(const FitsFile& file, const char* keyword) {
  return upper(file.text(keyword).value_or(""));
}

std::int64_t elements(const FitsTableShape& table, const FitsColumn& column) {
  return checked_product(table.rows, column.repeat, "elements of a column");
}

/// Returns the nside of a full-sky map of n pixels; 0 when there is none.
std::int64_t nside_of(std::int64_t n_pixels) {
  const auto nside =
      static_cast<std::int64_t>(std::llround(std::sqrt(static_cast<double>(n_pixels) / 12)));
  return nside >= 1 && nside <= max_nside && 12 * nside * nside == n_pixels ? nside : 0;
}

bool looks_like_map(const FitsFile& file, const FitsTableShape& table) {
  if (table.columns.empty()) return false;
  if (word(file, "PIXTYPE") == "HEALPIX") return true;
  // Other tables may have 12 nside^2 rows, and an NSIDE; healpy's spectra say only who wrote them.
  const TableKind kind = read_table_head(file, table).kind;
  if ((kind != TableKind::map && kind != TableKind::unknown) || word(file, "CREATOR") == "HEALPY")
    return false;
  if (file.text("NSIDE") || file.text("ORDERING")) return true;
  return std::any_of(table.columns.begin(), table.columns.end(), [&](const FitsColumn& column) {
    return column.is_number() && nside_of(elements(table, column)) > 0;
  });
}

/// Moves to the first binary table that may be a map.
int find_map(FitsFile& file) {
  for (int hdu = 2; hdu < FitsFile::most_hdus; ++hdu) {
    const std::optional<FitsHdu> kind = file.go_to(hdu);
    if (!kind) break;
    if (kind == FitsHdu::binary_table && looks_like_map(file, file.table())) return hdu;
  }
  const std::string held = words_of_content(file);
  throw DataError(file.path(),
                  fmt::format("holds {}; expected a HEALPix map, a binary table with NSIDE, "
                              "ORDERING or PIXTYPE, or of 12 nside^2 numbers, or an image in the "
                              "CAR projection",
                              held.empty() ? "no map" : held));
}

SkyCoverage coverage_of(const FitsFile& file, const FitsTableShape& table) {
  const std::string scheme = word(file, "INDXSCHM");
  if (scheme == "EXPLICIT") return SkyCoverage::partial;
  const bool lists_pixels = is_pixel_name(table.columns.front().name);
  if (scheme == "IMPLICIT" &&
      (!lists_pixels || nside_of(elements(table, table.columns.front())) > 0)) {
    return SkyCoverage::full;
  }
  return lists_pixels || word(file, "OBJECT") == "PARTIAL" ? SkyCoverage::partial
                                                           : SkyCoverage::full;
}

std::int64_t read_nside(const FitsFile& file, const FitsTableShape& table, FitsMapLayout& layout) {
  const std::optional<std::int64_t> stated = file.integer("NSIDE");
  if (stated) {
    if (*stated < 1 || *stated > max_nside) {
      file.fail(fmt::format("NSIDE = {} lies outside 1..{}", *stated, max_nside));
    }
    return *stated;
  }
  if (layout.header.coverage == SkyCoverage::partial)
    file.fail("a partial map without NSIDE cannot be read; add the keyword");
  for (const FitsColumn& column : table.columns) {
    const std::int64_t inferred = column.is_number() ? nside_of(elements(table, column)) : 0;
    if (inferred == 0) continue;
    layout.header.warnings.push_back(
        fmt::format("NSIDE is missing; {} by the number of pixels", inferred));
    return inferred;
  }
  file.fail("NSIDE is missing and no column has 12 nside^2 numbers");
}

void warn_of_text_nside(const FitsFile& file, FitsMapLayout& layout) {
  std::array<char, FLEN_VALUE> raw{};
  int status = 0;
  fits_read_keyword(file.handle(), "NSIDE", raw.data(), nullptr, &status);
  if (status == 0 && raw[0] == '\'')
    layout.header.warnings.push_back("NSIDE is text instead of a number");
  fits_clear_errmsg();
}

void read_ordering(const FitsFile& file, FitsMapLayout& layout) {
  const std::string ordering = word(file, "ORDERING");
  if (ordering.empty()) {
    layout.header.warnings.push_back("ORDERING is missing; taken as RING");
  } else if (ordering.starts_with("NEST")) {
    layout.header.ordering = Ordering::nested;
  } else if (!ordering.starts_with("RING")) {
    file.fail(fmt::format("ORDERING = '{}', expected RING or NESTED", ordering));
  }
  if (layout.header.ordering == Ordering::nested && (layout.nside & (layout.nside - 1)) != 0) {
    file.fail(fmt::format("ORDERING is NESTED but NSIDE = {} is not a power of two", layout.nside));
  }
}

void read_conventions(const FitsFile& file, FitsMapLayout& layout) {
  layout.header.coordsys = file.text("COORDSYS").value_or("");
  layout.header.origin = read_origin(file);
  if (const std::string name = file.text(extension_keyword).value_or(""); !name.empty())
    layout.header.origin.keywords.push_back({extension_keyword, name, ""});
  layout.bad_data = file.real("BAD_DATA");
  if (word(file, "PIXTYPE") != "HEALPIX")
    layout.header.warnings.push_back("PIXTYPE is not HEALPIX; taken as HEALPix");
  const std::string convention = word(file, "POLCCONV");
  layout.header.polarisation_was_iau = convention == "IAU";
  if (!convention.empty() && convention != "COSMO" && convention != "IAU") {
    layout.header.warnings.push_back(
        fmt::format("POLCCONV = '{}' is neither COSMO nor IAU; taken as COSMO", convention));
  }
}

/// Returns true if a column changes sign between the conventions: U and its covariances with I and
/// Q do.
bool changes_sign(const std::string& name) {
  const std::string stokes = upper(name.substr(0, name.find_first_of(" _-")));
  return stokes == "U" || stokes == "IU" || stokes == "QU" || stokes == "TU";
}

/// Negates the U columns; without descriptive names U is the third of three.
void flip_iau(std::vector<FitsMapLayout::Column>& columns) {
  bool named = false;
  for (FitsMapLayout::Column& column : columns) {
    if (!changes_sign(column.column.name)) continue;
    column.sign = -1;
    named = true;
  }
  if (!named && columns.size() == 3) columns[2].sign = -1;
}

void add_columns(const FitsTableShape& table, int hdu, std::size_t first, std::int64_t length,
                 FitsMapLayout& layout) {
  for (std::size_t i = first; i < table.columns.size(); ++i) {
    const FitsColumn& column = table.columns[i];
    if (!column.is_number() || elements(table, column) != length) {
      layout.header.warnings.push_back(
          fmt::format("HDU {}, column {} ({}) is left out: {}", hdu, column.number, column.name,
                      column.is_number() ? "its length is not the map's" : "it holds no numbers"));
      continue;
    }
    layout.columns.push_back(
        {hdu, column, 1.0, layout.pixel_lists.empty() ? 0 : layout.pixel_lists.size() - 1});
    const bool is_real = column.kind == FitsColumn::Number::real;
    if ((column.is_scaled && !is_real) || !fits_single(is_real, column.bytes))
      layout.header.precision = Precision::double_;
  }
}

void add_full_sky(const FitsFile& file, const FitsTableShape& table, int hdu,
                  FitsMapLayout& layout) {
  const std::int64_t n_pixels = 12 * layout.nside * layout.nside;
  add_columns(table, hdu, 0, n_pixels, layout);
  if (!layout.columns.empty()) return;
  for (const FitsColumn& column : table.columns) {
    if (!column.is_number()) continue;
    file.fail(fmt::format("NSIDE = {} needs {} pixels, column {} ({}) has {}", layout.nside,
                          n_pixels, column.number, column.name, elements(table, column)));
  }
  file.fail("the table has no column of numbers");
}

void add_partial_sky(const FitsFile& file, const FitsTableShape& table, int hdu,
                     FitsMapLayout& layout) {
  const FitsColumn& pixels = table.columns.front();
  if (pixels.kind != FitsColumn::Number::integer || pixels.repeat < 1) {
    file.fail(
        fmt::format("a partial map must list its pixels in its first column, this one ({}) holds "
                    "no whole numbers",
                    pixels.name));
  }
  const std::int64_t length = elements(table, pixels);
  const std::int64_t n_pixels = 12 * layout.nside * layout.nside;
  if (length > n_pixels) {
    file.fail(
        fmt::format("lists {} pixels, NSIDE = {} has only {}", length, layout.nside, n_pixels));
  }
  layout.pixel_lists.push_back({hdu, pixels, length});
  const std::size_t before = layout.columns.size();
  add_columns(table, hdu, 1, length, layout);
  if (layout.columns.size() == before)
    file.fail("a partial map with pixel numbers but no column of values");
}

bool same_columns(const FitsTableShape& a, const FitsTableShape& b) {
  return std::equal(a.columns.begin(), a.columns.end(), b.columns.begin(), b.columns.end(),
                    [](const FitsColumn& x, const FitsColumn& y) {
                      return x.name == y.name && x.kind == y.kind;
                    });
}

/// Adds the Q and U of old HEALPix files, which are in HDUs of their own with columns PIXEL SIGNAL
/// N_OBS SERROR. Their signals come first.
void add_old_stokes_hdus(FitsFile& file, const FitsTableShape& first, int hdu,
                         FitsMapLayout& layout) {
  constexpr std::array<std::string_view, 3> stokes{"I", "Q", "U"};
  if (layout.columns.front().column.name != "SIGNAL") return;
  for (int next = hdu + 1; next < hdu + 3 && file.go_to(next) == FitsHdu::binary_table; ++next) {
    const FitsTableShape table = file.table();
    if (!same_columns(first, table) || file.integer("NSIDE").value_or(layout.nside) != layout.nside)
      break;
    add_partial_sky(file, table, next, layout);
  }
  if (layout.pixel_lists.size() == 1) return;
  for (FitsMapLayout::Column& column : layout.columns) {
    column.column.name = fmt::format("{}_{}", stokes[column.pixel_list], column.column.name);
  }
  std::stable_partition(
      layout.columns.begin(), layout.columns.end(),
      [](const FitsMapLayout::Column& column) { return column.column.name.ends_with("_SIGNAL"); });
  layout.header.warnings.push_back("one HDU for each Stokes parameter; joined to one map");
}

}  // namespace

FitsMapLayout inspect_fits_map(FitsFile& file) {
  FitsMapLayout layout;
  layout.image = find_car_image(file, layout.header);
  if (layout.image) return layout;
  layout.header.precision = Precision::single_;
  const int hdu = find_map(file);
  const FitsTableShape table = file.table();
  layout.header.coverage = coverage_of(file, table);
  layout.nside = read_nside(file, table, layout);
  warn_of_text_nside(file, layout);
  read_ordering(file, layout);
  read_conventions(file, layout);
  if (layout.header.coverage == SkyCoverage::full) {
    add_full_sky(file, table, hdu, layout);
  } else {
    add_partial_sky(file, table, hdu, layout);
    add_old_stokes_hdus(file, table, hdu, layout);
  }
  if (layout.header.polarisation_was_iau) flip_iau(layout.columns);
  layout.header.grid = std::make_shared<const RingGrid>(RingGrid::healpix(layout.nside));
  for (const FitsMapLayout::Column& column : layout.columns) {
    const FitsColumn& of = column.column;
    const bool is_whole = of.kind != FitsColumn::Number::real && !of.is_scaled;
    layout.header.columns.push_back({of.name, of.unit, is_whole ? of.bytes : 0});
  }
  for (const FitsMapLayout::PixelList& list : layout.pixel_lists)
    layout.header.listed_pixels = std::max(layout.header.listed_pixels, list.length);
  return layout;
}

}  // namespace ringweave::detail::inline io
