// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace ringweave::detail::inline gyro {

/// Interpolation between the nodes of a grid: products of hats, or of cubic Hermite cardinals with
/// derivatives by differences of fourth order.
enum class Interpolation { bilinear, bicubic };

/// Nodes next to an end of an axis whose cardinals are cut off or have one-sided derivatives: 1 and
/// 5.
constexpr std::int64_t margin_of(Interpolation interpolation) {
  return interpolation == Interpolation::bilinear ? 1 : 5;
}
/// The least nodes of an axis with boundary zero: 2 and 10.
constexpr std::int64_t least_nodes(Interpolation interpolation) {
  return 2 * margin_of(interpolation);
}

}  // namespace ringweave::detail::inline gyro
