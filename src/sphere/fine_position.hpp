// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cmath>
#include <cstdint>

#include "base/host_device.hpp"

// Where a point lies among the rows of RingGrid::fejer(n_rows, n_columns). Every sum of a product
// is a fused multiply-add, so that all machines and devices find the same taps.
namespace ringweave::detail::inline sphere {

/// A position in units of rows or columns, index + offset. The offset is in [-1/2, 1/2] to the
/// rounding of the sum, and has the digits that the sum would lose.
struct FinePosition {
  std::int64_t index;
  double offset;
};

namespace fine {

inline constexpr double pi = 0x1.921fb54442d18p+1;
inline constexpr double pi_rest = 0x1.1a62633145c07p-53;  ///< pi less the double
inline constexpr double per_pi = 0x1.45f306dc9c883p-2;    ///< 1 / pi
inline constexpr double per_pi_rest = -0x1.6b01ec5417056p-56;
/// Longitude beyond which the double nearest to 2 pi gives as many digits as phi has.
inline constexpr double far = 1 << 20;

}  // namespace fine

/// Returns where theta, 0 <= theta <= pi, lies among rows at pi (r + 1/2) / n_rows, computed from
/// the nearer pole: index 0 .. n_rows - 1.
RINGWEAVE_HOST_DEVICE FinePosition row_position(double theta, std::int64_t n_rows) {
  const auto n = static_cast<double>(n_rows);
  const bool is_south = theta > fine::pi / 2;
  const double from_pole = is_south ? fine::pi - theta : theta;
  const double from_pole_rest = is_south ? fine::pi_rest : 0.0;
  // In units of pi. Adding zero keeps compilers from fusing the product into what follows.
  const double high = std::fma(from_pole, fine::per_pi, 0.0);
  const double low =
      std::fma(from_pole_rest, fine::per_pi,
               std::fma(from_pole, fine::per_pi_rest, std::fma(from_pole, fine::per_pi, -high)));
  const double nearest = std::rint(std::fma(high, n, -0.5));
  const double offset = std::fma(low, n, std::fma(high, n, -(nearest + 0.5)));
  const auto index = static_cast<std::int64_t>(nearest);
  if (is_south) return {n_rows - 1 - index, -offset};
  return {index, offset};
}

/// Returns phi, or an angle of as many turns less where phi is far.
RINGWEAVE_HOST_DEVICE double near_turn(double phi) {
  return std::fabs(phi) > fine::far ? std::fmod(phi, 2 * fine::pi) : phi;
}

/// Returns where phi, any finite number, lies among columns at 2 pi q / n_columns, q modulo
/// n_columns: index 0 .. n_columns - 1.
RINGWEAVE_HOST_DEVICE FinePosition column_position(double phi, std::int64_t n_columns) {
  phi = near_turn(phi);
  const auto n = static_cast<double>(n_columns);
  // In turns.
  const double high = std::fma(phi, fine::per_pi / 2, 0.0);
  const double low = std::fma(phi, fine::per_pi_rest / 2, std::fma(phi, fine::per_pi / 2, -high));
  const double part = high - std::rint(high);
  const double nearest = std::rint(std::fma(part, n, 0.0));
  const double offset = std::fma(low, n, std::fma(part, n, -nearest));
  auto index = static_cast<std::int64_t>(nearest);
  if (index < 0) index += n_columns;
  return {index, offset};
}

/// Returns the first of the n_taps samples around a position, ceil(position - n_taps / 2). It may
/// be negative.
RINGWEAVE_HOST_DEVICE std::int64_t first_tap(const FinePosition& position, int n_taps) {
  return position.index + static_cast<std::int64_t>(std::ceil(position.offset - 0.5 * n_taps));
}

/// A row, and whether it stands for one beyond a pole: turned by half a circle.
struct FoldedRow {
  std::int64_t row;
  bool is_turned;
};

/// Returns the row that holds row r, any number, of the great circle through both poles: row -1 - r
/// is row r turned, and so is row n_rows + r row n_rows - 1 - r.
RINGWEAVE_HOST_DEVICE FoldedRow folded_row(std::int64_t r, std::int64_t n_rows) {
  FoldedRow folded{r, false};
  while (folded.row < 0 || folded.row >= n_rows) {
    folded.row = folded.row < 0 ? -1 - folded.row : 2 * n_rows - 1 - folded.row;
    folded.is_turned = !folded.is_turned;
  }
  return folded;
}

}  // namespace ringweave::detail::inline sphere
