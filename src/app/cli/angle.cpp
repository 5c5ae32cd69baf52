// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/angle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numbers>
#include <string_view>

#include "app/cli/suggestion.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline app {
namespace {

struct Unit {
  std::string_view name;
  double radians;
};
constexpr double degree = std::numbers::pi / 180;
constexpr std::array<Unit, 19> units{{{"arcmin", degree / 60},
                                      {"arcmins", degree / 60},
                                      {"arcminute", degree / 60},
                                      {"arcminutes", degree / 60},
                                      {"'", degree / 60},
                                      {"arcsec", degree / 3600},
                                      {"arcsecs", degree / 3600},
                                      {"arcsecond", degree / 3600},
                                      {"arcseconds", degree / 3600},
                                      {"\"", degree / 3600},
                                      {"deg", degree},
                                      {"degs", degree},
                                      {"degree", degree},
                                      {"degrees", degree},
                                      {"\xc2\xb0", degree},
                                      {"rad", 1},
                                      {"rads", 1},
                                      {"radian", 1},
                                      {"radians", 1}}};

}  // namespace

double parse_angle(const std::string& text, const std::string& option) {
  double value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || !std::isfinite(value)) {
    throw UsageError(fmt::format(
        "{} {}: not an angle; expected a number and a unit, e.g. 5arcmin, 1.5deg, 20arcsec, "
        "0.01rad",
        option, text));
  }
  std::string_view unit_name(rest, static_cast<std::size_t>(text.data() + text.size() - rest));
  unit_name.remove_prefix(std::min(unit_name.size(), unit_name.find_first_not_of(' ')));
  for (const Unit& unit : units) {
    if (unit.name == unit_name) return value * unit.radians;
  }
  if (unit_name.empty()) {
    throw UsageError(
        fmt::format("{} {}: an angle needs a unit; write {}arcmin, {}deg, {}arcsec or {}rad",
                    option, text, text, text, text, text));
  }
  const std::string meant =
      did_you_mean(std::string(unit_name), {"arcmin", "deg", "arcsec", "rad"});
  throw UsageError(fmt::format("{} {}: unknown unit '{}'{}", option, text, unit_name,
                               meant.empty() ? "; expected arcmin, deg, arcsec or rad" : meant));
}

double parse_degrees(const std::string& text, const std::string& option) {
  return parse_angle(text, option) * 180 / std::numbers::pi;
}

double parse_width(const std::string& text, const std::string& option) {
  const double width = parse_angle(text, option);
  if (width < 0)
    throw UsageError(fmt::format("{} {}: expected a width of 0 or more", option, text));
  if (width > std::numbers::pi)
    throw UsageError(fmt::format("{} {}: expected a width of at most 180deg", option, text));
  return width;
}

AngleRange parse_angle_range(const std::string& text, const std::string& option) {
  const auto colon = text.find(':');
  if (colon == std::string::npos) {
    throw UsageError(fmt::format("{} {}: expected LOW:HIGH, e.g. -10deg:10deg", option, text));
  }
  const AngleRange range{parse_angle(text.substr(0, colon), option),
                         parse_angle(text.substr(colon + 1), option)};
  if (!(range.low < range.high))
    throw UsageError(fmt::format("{} {}: LOW must be below HIGH", option, text));
  return range;
}

}  // namespace ringweave::detail::inline app
