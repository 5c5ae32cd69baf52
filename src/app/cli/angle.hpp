// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <numbers>
#include <string>

namespace ringweave::detail::inline app {

inline constexpr double arcmin = std::numbers::pi / (180 * 60);  ///< radians

/// Returns the radians of "5arcmin", "1.5deg", "20arcsec", "0.01rad". Error  UsageError for a bare
/// number or an unknown unit.
double parse_angle(const std::string& text, const std::string& option);

/// Returns the same for angles of 0 or more. Error  UsageError.
double parse_width(const std::string& text, const std::string& option);

/// A range "LO:HI" of angles in radians, LO < HI. Error  UsageError.
struct AngleRange {
  double low;
  double high;
};
AngleRange parse_angle_range(const std::string& text, const std::string& option);

/// Returns an angle in degrees, as files record it.
double parse_degrees(const std::string& text, const std::string& option);

}  // namespace ringweave::detail::inline app
