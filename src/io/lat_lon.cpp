// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/lat_lon.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <utility>

#include "base/checked_cast.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline io {
namespace {

constexpr double tolerance = 1e-3;  ///< of a step: coordinates may be stored in single precision
/// Weights of more equidistant rings would take minutes.
constexpr std::int64_t most_rings = std::int64_t{1} << 17;

constexpr double degrees = 180 / std::numbers::pi;

bool is_near(double a, double b) { return std::abs(a - b) < tolerance; }

[[noreturn]] void refuse_latitudes(const std::string& where, std::span<const double> latitudes) {
  throw DataError(
      where,
      fmt::format("its {} latitudes {:.8g}, {:.8g} ... {:.8g} are no grid that is known; expected "
                  "equal steps with both poles or half a step from them, all or a band, or all "
                  "Gauss-Legendre nodes; interpolate to such a grid",
                  latitudes.size(), latitudes[0], latitudes[1], latitudes.back()));
}

/// Sets the columns of `order` and returns the longitude of pixel 0.
double place_columns(const std::string& where, std::span<const double> longitudes,
                     LatLonGrid& found) {
  LatLonOrder& order = found.order;
  order.n_columns = ssize64(longitudes);
  const double first = longitudes.front();
  const double stored_step = (longitudes.back() - first) / static_cast<double>(order.n_columns - 1);
  const double in_circle = 360 / std::abs(stored_step);
  for (std::int64_t c = 0; c < order.n_columns; ++c) {
    const double off = longitudes[to_size(c)] - first - static_cast<double>(c) * stored_step;
    if (std::abs(off) < tolerance * std::abs(stored_step)) continue;
    throw DataError(where, fmt::format("its longitudes do not ascend or descend in equal steps: "
                                       "number {} is {:.8g}; interpolate to equal steps",
                                       c + 1, longitudes[to_size(c)]));
  }
  order.n_phi = std::llround(std::min(in_circle, 1e12));
  // The error of a step adds up along the circle.
  const bool repeats = order.n_columns == order.n_phi + 1;
  if (!is_near(in_circle, static_cast<double>(order.n_phi)) ||
      (order.n_columns != order.n_phi && !repeats)) {
    throw DataError(
        where,
        fmt::format("its {} longitudes {:.8g} ... {:.8g} are a patch that does not go round the "
                    "whole circle once; expected whole rings: put the patch into a map of "
                    "them",
                    order.n_columns, first, longitudes.back()));
  }
  if (repeats)
    found.warnings.push_back("the last longitude repeats the first; it is left out on reading");
  order.pixel_step = stored_step > 0 ? 1 : -1;
  const double step = 360 / static_cast<double>(order.n_phi);
  const double pixels = first / step;
  const double whole = std::floor(pixels + tolerance);
  const double eighths = std::round((pixels - whole) * 8) / 8;
  const double rest = is_near(pixels - whole, eighths) ? eighths : pixels - whole;
  order.first_pixel = static_cast<std::int64_t>(whole) % order.n_phi;
  // 1.25 degrees, not what rounding makes of them.
  const double decimal = std::round(rest * step * 1e9) / 1e9;
  return std::abs(decimal - rest * step) < 1e-12 ? decimal : rest * step;
}

/// Returns the position of a latitude in steps from the north pole.
double steps_from_pole(double latitude, double step) { return (90 - latitude) / step; }

/// Equidistant latitudes: sets the rows of `order` and returns the grid. `offset` is 0 with the
/// poles, 1/2 without.
std::optional<RingGrid> equidistant_grid(std::span<const double> latitudes, double first_longitude,
                                         LatLonOrder& order) {
  const double stored_step = std::abs(latitudes[1] - latitudes[0]);
  const double across =
      std::abs(latitudes.back() - latitudes[0]) / static_cast<double>(order.n_rows - 1);
  const std::int64_t n = std::llround(std::min(180 / across, 1e12));
  const double step = 180 / static_cast<double>(n);
  if (n < 1 || n > most_rings || !is_near(stored_step / step, 1)) return std::nullopt;
  const double first = steps_from_pole(latitudes[0], step);
  const double offset = is_near(first, std::round(first)) ? 0 : 0.5;
  order.first_ring = std::llround(first - offset);
  for (std::int64_t r = 0; r < order.n_rows; ++r) {
    const auto ring = static_cast<double>(order.first_ring + r * order.ring_step);
    if (!is_near(steps_from_pole(latitudes[to_size(r)], step), ring + offset)) return std::nullopt;
  }
  if (offset == 0) return RingGrid::clenshaw_curtis(n + 1, order.n_phi, first_longitude);
  return RingGrid::fejer(n, order.n_phi, first_longitude);
}

std::optional<RingGrid> gauss_grid(std::span<const double> latitudes, double first_longitude,
                                   LatLonOrder& order) {
  RingGrid grid = RingGrid::gauss_legendre(order.n_rows, order.n_phi, first_longitude);
  order.first_ring = order.ring_step > 0 ? 0 : order.n_rows - 1;
  const double step = 180 / static_cast<double>(order.n_rows);
  for (std::int64_t r = 0; r < order.n_rows; ++r) {
    const double latitude = latitude_of(grid, order.first_ring + r * order.ring_step);
    if (!is_near(latitudes[to_size(r)] / step, latitude / step)) return std::nullopt;
  }
  return grid;
}

}  // namespace

LatLonGrid find_lat_lon_grid(const std::string& where, std::span<const double> latitudes,
                             std::span<const double> longitudes) {
  LatLonGrid found;
  LatLonOrder& order = found.order;
  order.n_rows = ssize64(latitudes);
  if (order.n_rows < 2 || order.n_rows > most_rings || ssize64(longitudes) < 2) {
    throw DataError(where, fmt::format("has {} latitudes and {} longitudes; expected 2 or more",
                                       order.n_rows, longitudes.size()));
  }
  for (const double latitude : latitudes) {
    if (!(std::abs(latitude) < 90 + tolerance)) {
      throw DataError(where, fmt::format("the latitude {:.8g} lies outside -90 ... 90", latitude));
    }
  }
  const double first_longitude = place_columns(where, longitudes, found);
  order.ring_step = latitudes[0] > latitudes[1] ? 1 : -1;
  std::optional<RingGrid> grid = equidistant_grid(latitudes, first_longitude, order);
  if (!grid) grid = gauss_grid(latitudes, first_longitude, order);
  if (!grid) refuse_latitudes(where, latitudes);
  found.grid = std::make_shared<const RingGrid>(*std::move(grid));
  return found;
}

double latitude_of(const RingGrid& grid, std::int64_t ring) {
  const auto number = static_cast<double>(ring);
  const auto n = static_cast<double>(grid.n_rings());
  if (grid.kind() == GridKind::clenshaw_curtis) return 90 - 180 * number / (n - 1);
  if (grid.kind() == GridKind::fejer) return 90 - 180 * (number + 0.5) / n;
  return 90 - grid.ring(RingId{ring}).theta * degrees;
}

}  // namespace ringweave::detail::inline io
