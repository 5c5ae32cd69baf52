// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace ringweave {

/// Radians of "5arcmin", "1.5deg", "20arcsec", "0.01rad". Error  UsageError for a bare number or an
/// unknown unit.
double parse_angle(const std::string& text, const std::string& option);

/// The same, of 0 or more. Error  UsageError.
double parse_width(const std::string& text, const std::string& option);

/// "LO:HI" of two angles, radians, LO < HI. Error  UsageError.
struct AngleRange {
  double low;
  double high;
};
AngleRange parse_angle_range(const std::string& text, const std::string& option);

}  // namespace ringweave
