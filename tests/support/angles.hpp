// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <numbers>

namespace ringweave::detail {

inline constexpr double pi = std::numbers::pi;
/// Radians.
inline constexpr double degree = std::numbers::pi / 180;

}  // namespace ringweave::detail
