// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/unit_name.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>

#include "io/keywords.hpp"

namespace ringweave::detail::inline io {
namespace {

constexpr std::array<std::string_view, 26> known_words{
    "K",      "mK", "uK", "nK", "pK",  "Jy", "mJy", "kJy", "MJy", "sr",  "rad",  "deg", "arcmin",
    "arcsec", "s",  "ms", "Hz", "GHz", "W",  "m",   "cm",  "kg",  "erg", "beam", "ct",  "adu"};

}  // namespace

std::string astropy_unit(const std::string& unit) {
  std::string name = unit;
  constexpr std::array<std::pair<std::string_view, std::string_view>, 12> spellings{
      {{"_CMB", ""},
       {"_cmb", ""},
       {"_RJ", ""},
       {"_rj", ""},
       {"_thermo", ""},
       {"microK", "uK"},
       {"micro-K", "uK"},
       {"muK", "uK"},
       {"\xc2\xb5K", "uK"},
       {"milliK", "mK"},
       {"uKelvin", "uK"},
       {"Kelvin", "K"}}};
  for (const auto& [from, to] : spellings) replace_all(name, from, to);
  std::string word;
  for (const char c : name + " ") {
    if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
      word += c;
      continue;
    }
    if (!word.empty() &&
        std::find(known_words.begin(), known_words.end(), word) == known_words.end())
      return {};
    word.clear();
    if (std::isdigit(static_cast<unsigned char>(c)) == 0 &&
        std::string_view(" /*^()-.").find(c) == std::string::npos) {
      return {};
    }
  }
  return name;
}

std::string temperature_scale(const std::string& unit) {
  if (unit.find("_CMB") != std::string::npos || unit.find("_cmb") != std::string::npos)
    return "CMB thermodynamic";
  if (unit.find("_RJ") != std::string::npos || unit.find("_rj") != std::string::npos)
    return "Rayleigh-Jeans";
  return {};
}

std::string known_unit(const std::string& unit) {
  constexpr std::array<std::string_view, 6> unknown{"unknown", "[unknown]", "none",
                                                    "None",    "-",         "^2"};
  return std::find(unknown.begin(), unknown.end(), unit) == unknown.end() ? unit : std::string();
}

std::string unit_of_root(const std::string& squared) {
  std::string unit = squared;
  replace_all(unit, "**", "^");
  replace_all(unit, " ", "");
  constexpr std::string_view square = "^2";
  if (!unit.ends_with(square)) return {};
  unit.resize(unit.size() - square.size());
  if (unit.starts_with('(') && unit.ends_with(')')) return unit.substr(1, unit.size() - 2);
  return unit.find_first_of("()^/*") == std::string::npos ? unit : std::string();
}

std::string unit_of_spectrum(Spectra::Name name, const std::string& unit) {
  if (name == Spectra::PP) return {};
  return name == Spectra::TP || name == Spectra::EP ? unit_of_root(unit) : unit;
}

std::optional<double> temperature_factor(const std::string& from, const std::string& to) {
  constexpr std::array<std::pair<std::string_view, double>, 5> kelvins{
      {{"K", 1}, {"mK", 1e3}, {"uK", 1e6}, {"nK", 1e9}, {"pK", 1e12}}};
  const auto per_kelvin = [&](const std::string& unit) {
    const std::string name = astropy_unit(unit);
    const auto found = std::find_if(kelvins.begin(), kelvins.end(),
                                    [&](const auto& entry) { return entry.first == name; });
    return found == kelvins.end() ? 0.0 : found->second;
  };
  const std::string scale = temperature_scale(from);
  const std::string other_scale = temperature_scale(to);
  // K alone may be thermodynamic, as most maps are, but not Rayleigh-Jeans.
  const bool is_rayleigh_jeans = (scale + other_scale).find("Rayleigh") != std::string::npos;
  if (scale != other_scale && (is_rayleigh_jeans || (!scale.empty() && !other_scale.empty())))
    return std::nullopt;
  if (per_kelvin(from) == 0 || per_kelvin(to) == 0) return std::nullopt;
  return per_kelvin(to) / per_kelvin(from);
}

}  // namespace ringweave::detail::inline io
