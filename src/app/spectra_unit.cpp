// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/spectra_unit.hpp"

#include <fmt/format.h>

#include <optional>

#include "io/unit_name.hpp"

namespace ringweave::detail::inline app {
namespace {

std::string square_of(const std::string& unit) {
  if (unit.empty()) return "";
  return unit.find_first_of(" /*^") == std::string::npos ? unit + "^2" : "(" + unit + ")^2";
}

}  // namespace

SpectraUnit unit_of_spectra(Run& run, const std::vector<std::string>& paths,
                            const std::vector<std::string>& units) {
  const std::string first = known_unit(units.front());
  const std::string second = known_unit(units.back());
  if (first == second) return {square_of(first)};
  if (first.empty() || second.empty()) {
    const bool is_first = second.empty();
    run.warn(fmt::format("{} is in {} and {} does not state its unit; their spectra get none",
                         is_first ? paths.front() : paths.back(), is_first ? first : second,
                         is_first ? paths.back() : paths.front()));
    return {};
  }
  SpectraUnit unit{first + " " + second};
  if (const std::optional<double> factor = temperature_factor(second, first))
    unit = {square_of(first), *factor};
  run.note(fmt::format("{} is in {} and {} in {}; their spectra are in {}", paths.front(), first,
                       paths.back(), second, unit.name));
  return unit;
}

}  // namespace ringweave::detail::inline app
