// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/jobs/slurm_time.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <regex>
#include <utility>

#include "base/error.hpp"

namespace ringweave {

double slurm_seconds(const std::string& text, const std::string& option) {
  static const std::regex format("(?:(\\d{1,4})-)?(\\d{1,6})(?::(\\d{1,2}))?(?::(\\d{1,2}))?");
  std::smatch parts;
  if (!std::regex_match(text, parts, format)) {
    throw UsageError(fmt::format(
        "{} {}: expected a limit such as 90 (minutes), 02:00:00 or 1-12:00:00", option, text));
  }
  const auto number = [&](std::size_t i) {
    return parts[i].matched ? std::stod(parts[i].str()) : 0.0;
  };
  if (parts[1].matched) return ((number(1) * 24 + number(2)) * 60 + number(3)) * 60 + number(4);
  if (parts[4].matched) return (number(2) * 60 + number(3)) * 60 + number(4);
  return number(2) * 60 + number(3);
}

std::string slurm_time(double seconds) {
  const auto minutes = static_cast<std::int64_t>(std::ceil(seconds / 60));
  const std::int64_t days = minutes / (24 * 60);
  return fmt::format("{}{:02}:{:02}:00", days > 0 ? fmt::format("{}-", days) : "",
                     minutes / 60 % 24, minutes % 60);
}

std::string duration_text(double seconds) {
  const auto [unit, name] = seconds < 100    ? std::pair{1.0, "s"}
                            : seconds < 6000 ? std::pair{60.0, "min"}
                                             : std::pair{3600.0, "h"};
  const double value = seconds / unit;
  return value < 99.5 ? fmt::format("{:.2g} {}", value, name)
                      : fmt::format("{:.0f} {}", value, name);
}

}  // namespace ringweave
