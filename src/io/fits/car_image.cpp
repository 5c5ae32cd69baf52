// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/fits/car_image.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <string_view>

#include "base/checked_cast.hpp"
#include "io/column_names.hpp"
#include "io/fits/header.hpp"
#include "io/keywords.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline io {
namespace {

constexpr std::int64_t most_planes = 10000;

std::string keyword_in_capitals(const FitsFile& file, const std::string& keyword) {
  return upper(file.text(keyword).value_or(""));
}

/// Returns the projection of a celestial axis, "CAR" of "RA---CAR"; empty for other axes.
std::string projection_of(const std::string& axis) {
  constexpr std::size_t length = 8;
  return axis.size() == length && axis[4] == '-' ? axis.substr(5) : "";
}

/// Returns the system that the longitudes are of: C, G, E, or nothing for another.
std::string system_of(const std::string& axis) {
  if (axis.starts_with("RA-")) return "C";
  if (axis.starts_with("GLON")) return "G";
  return axis.starts_with("ELON") ? "E" : "";
}

/// Returns the step along an axis in degrees: CDELT, PC and CD without a rotation.
double step_of(const FitsFile& file, int axis) {
  const std::string unit = keyword_in_capitals(file, fmt::format("CUNIT{}", axis));
  if (!unit.empty() && !unit.starts_with("DEG"))
    file.fail(fmt::format("CUNIT{} = '{}'; expected deg", axis, unit));
  const int other = 3 - axis;
  for (const char* matrix : {"PC", "CD"}) {
    if (file.real(fmt::format("{}{}_{}", matrix, axis, other)).value_or(0) != 0)
      file.fail("the image is rotated against latitude and longitude; expected rows along rings");
  }
  const double step = file.real(fmt::format("CDELT{}", axis)).value_or(1) *
                      file.real(fmt::format("PC{0}_{0}", axis)).value_or(1);
  const double found = file.real(fmt::format("CD{0}_{0}", axis)).value_or(step);
  if (!std::isfinite(found) || found == 0)
    file.fail(fmt::format("the step along axis {} (CDELT{}) is {}", axis, axis, found));
  return found;
}

/// Refuses projections whose pole is not the pole of the coordinates.
void check_is_upright(const FitsFile& file) {
  const double pole = file.real("LONPOLE").value_or(0);
  if (file.real("CRVAL2").value_or(0) != 0 || (pole != 0 && pole != 180) ||
      file.real("LATPOLE").value_or(90) < 0 || file.real("CROTA2").value_or(0) != 0) {
    file.fail("an oblique plate carree projection; expected CRVAL2 = 0, LONPOLE = 0, LATPOLE = 90");
  }
}

/// Returns the coordinates of the pixels along an axis.
std::vector<double> coordinates(const FitsFile& file, int axis, std::int64_t n_pixels) {
  const double step = step_of(file, axis);
  const double value = file.real(fmt::format("CRVAL{}", axis)).value_or(0);
  const double reference = file.real(fmt::format("CRPIX{}", axis)).value_or(0);
  std::vector<double> values;
  for (std::int64_t i = 1; i <= n_pixels; ++i)
    values.push_back(value + (static_cast<double>(i) - reference) * step);
  return values;
}

void set_columns(const FitsFile& file, std::int64_t n_planes, CarImage& image, MapHeader& header) {
  const std::string unit = file.text("BUNIT").value_or("");
  for (const std::string& name : standard_column_names(n_planes))
    header.columns.push_back({name, unit});
  image.signs.assign(to_size(n_planes), 1.0);
  if (n_planes != 2 && n_planes != 3) return;
  const std::string convention = keyword_in_capitals(file, "POLCCONV");
  header.polarisation_was_iau = convention == "IAU";
  if (header.polarisation_was_iau) image.signs.back() = -1;
  if (convention.empty())
    header.warnings.push_back("POLCCONV is missing; U taken as COSMO, as pixell computes");
  if (!convention.empty() && convention != "COSMO" && convention != "IAU") {
    header.warnings.push_back(
        fmt::format("POLCCONV = '{}' is neither COSMO nor IAU; taken as COSMO", convention));
  }
}

}  // namespace

std::optional<CarImage> find_car_image(FitsFile& file, MapHeader& header) {
  for (int hdu = 1; hdu < FitsFile::most_hdus && file.go_to(hdu) == FitsHdu::image; ++hdu) {
    const std::string axis = keyword_in_capitals(file, "CTYPE1");
    const std::string projection = projection_of(axis);
    if (projection.empty() || file.integer("NAXIS").value_or(0) < 2) continue;
    const std::string second = keyword_in_capitals(file, "CTYPE2");
    if (projection != "CAR" || projection_of(second) != "CAR") {
      file.fail(fmt::format("an image in the projection {}, {}; expected a HEALPix map or CAR",
                            axis, second));
    }
    if (second.substr(1, 3) != "LAT" && !second.starts_with("DEC"))
      file.fail(fmt::format("CTYPE2 = '{}'; expected latitudes on the second axis", second));
    const FitsImageShape shape = file.image();
    check_is_upright(file);
    constexpr std::int64_t most_pixels = std::int64_t{1} << 21;
    if (shape.dims[0] > most_pixels || shape.dims[1] > most_pixels)
      file.fail(fmt::format("an image of {} x {} pixels", shape.dims[0], shape.dims[1]));
    LatLonGrid found =
        find_lat_lon_grid(fmt::format("{}, HDU {}", file.path(), hdu),
                          coordinates(file, 2, shape.dims[1]), coordinates(file, 1, shape.dims[0]));
    CarImage image{hdu, found.order, {}};
    header.grid = found.grid;
    header.warnings = found.warnings;
    if (found.order.rings().size() < header.grid->n_rings()) {
      header.coverage = SkyCoverage::partial;
      header.listed_pixels = found.order.n_rows * found.order.n_phi;
    }
    const bool is_real = shape.bits < 0;
    const bool is_single =
        (is_real || !shape.is_scaled) && fits_single(is_real, std::abs(shape.bits) / 8);
    header.precision = is_single ? Precision::single_ : Precision::double_;
    header.coordsys = file.text("COORDSYS").value_or(system_of(axis));
    header.origin = read_origin(file);
    std::int64_t n_planes = 1;
    for (std::size_t d = 2; d < shape.dims.size(); ++d) n_planes *= shape.dims[d];
    if (n_planes < 1 || n_planes > most_planes)
      file.fail(fmt::format("an image of {} planes; expected 1 to {}", n_planes, most_planes));
    set_columns(file, n_planes, image, header);
    if (!is_real && !shape.is_scaled) {
      for (MapColumn& column : header.columns)
        column.integer_bytes = static_cast<int>(std::abs(shape.bits) / 8);
    }
    return image;
  }
  return std::nullopt;
}

void read_car_image(FitsFile& file, const CarImage& image, std::int64_t plane, std::int64_t first,
                    std::span<double> values) {
  const LatLonOrder& order = image.order;
  std::vector<double> row(to_size(order.n_columns));
  file.go_to(image.hdu);
  for (std::int64_t done = 0; done < ssize64(values);) {
    const std::int64_t ring = (first + done) / order.n_phi;
    const std::int64_t begin = (first + done) % order.n_phi;
    const std::int64_t count = std::min(order.n_phi - begin, ssize64(values) - done);
    const std::span<double> pixels = values.subspan(to_size(done), to_size(count));
    done += count;
    if (!order.rings().contains(ring)) {
      std::fill(pixels.begin(), pixels.end(), unseen);
      continue;
    }
    file.read_image((plane * order.n_rows + order.row_of(ring)) * order.n_columns, row);
    for (std::int64_t i = 0; i < count; ++i) {
      const double value = row[to_size(order.column_of(begin + i))];
      pixels[to_size(i)] = is_unseen(value) ? unseen : image.signs[to_size(plane)] * value;
    }
  }
}

bool is_car_grid(const RingGrid& grid) {
  return grid.kind() == GridKind::clenshaw_curtis || grid.kind() == GridKind::fejer;
}

CarWriter::CarWriter(FitsFile& file, const MapHeader& header, const Provenance& provenance,
                     RingRange rings)
    : file_(file), precision_(header.precision) {
  const RingGrid& grid = *header.grid;
  const std::int64_t n_phi = grid.ring(RingId{0}).n_phi;
  // As pixell: rows from south to north, longitudes descending from 180 degrees.
  order_ = {rings.size(), n_phi, n_phi, rings.end - 1, -1, n_phi / 2, -1};
  row_.resize(to_size(n_phi));
  const std::int64_t n_planes = ssize64(header.columns);
  const std::array<std::int64_t, 3> dims{n_phi, rings.size(), n_planes};
  file.append_image(precision_, std::span(dims).first(n_planes == 1 ? 2 : 3));

  const double step = 360 / static_cast<double>(n_phi);
  const double n_intervals =
      static_cast<double>(grid.n_rings()) - (grid.kind() == GridKind::clenshaw_curtis ? 1.0 : 0.0);
  const double ring_step = 180 / n_intervals;
  const double middle = (static_cast<double>(n_phi) + 1) / 2;
  const std::int64_t half = n_phi / 2;  // whole pixels
  const double first =
      grid.ring(RingId{0}).phi0 * 180 / std::numbers::pi + static_cast<double>(half) * step;
  const std::string& system = header.coordsys;
  const bool is_galactic = system.starts_with('G');
  const bool is_ecliptic = system.starts_with('E');
  put_integer(file, "WCSAXES", 2, "celestial axes");
  put_text(file, "CTYPE1",
           is_galactic   ? "GLON-CAR"
           : is_ecliptic ? "ELON-CAR"
                         : "RA---CAR",
           "plate carree projection");
  put_text(file, "CTYPE2",
           is_galactic   ? "GLAT-CAR"
           : is_ecliptic ? "ELAT-CAR"
                         : "DEC--CAR",
           "plate carree projection");
  put_real(file, "CRPIX1", middle, "reference pixel");
  put_real(file, "CRPIX2", 1 - latitude_of(grid, rings.end - 1) / ring_step, "the equator");
  put_real(file, "CDELT1", -step, "[deg] step of longitudes");
  put_real(file, "CDELT2", ring_step, "[deg] step of latitudes");
  put_text(file, "CUNIT1", "deg", "");
  put_text(file, "CUNIT2", "deg", "");
  put_real(file, "CRVAL1", first - step * (middle - 1), "[deg] longitude of the reference pixel");
  put_real(file, "CRVAL2", 0, "[deg] latitude of the reference pixel");
  put_real(file, "LONPOLE", 0, "[deg]");
  put_real(file, "LATPOLE", 90, "[deg]");
  const std::string& unit = header.columns.front().unit;
  if (!unit.empty()) put_text(file, "BUNIT", unit, "unit of the map");
  if (n_planes == 2 || n_planes == 3) put_text(file, "POLCCONV", "COSMO", "sign of U");
  put_provenance(file, provenance);
}

void CarWriter::write(std::int64_t first, std::int64_t n_pixels, std::span<double> values) {
  std::replace_if(values.begin(), values.end(), is_unseen,
                  std::numeric_limits<double>::quiet_NaN());
  if (precision_ == Precision::single_) file_.require_single(values);
  for (std::int64_t done = 0; done < ssize64(values); done += order_.n_phi) {
    const std::int64_t plane = done / n_pixels;
    const std::int64_t ring = (first + done % n_pixels) / order_.n_phi;
    for (std::int64_t pixel = 0; pixel < order_.n_phi; ++pixel)
      row_[to_size(order_.column_of(pixel))] = values[to_size(done + pixel)];
    file_.write_image((plane * order_.n_rows + order_.row_of(ring)) * order_.n_phi, row_);
  }
}

}  // namespace ringweave::detail::inline io
