// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/unit_name.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>

namespace ringweave::detail::inline io {
namespace {

constexpr std::array<std::string_view, 26> known_words{
    "K",      "mK", "uK", "nK", "pK",  "Jy", "mJy", "kJy", "MJy", "sr",  "rad",  "deg", "arcmin",
    "arcsec", "s",  "ms", "Hz", "GHz", "W",  "m",   "cm",  "kg",  "erg", "beam", "ct",  "adu"};

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

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

}  // namespace ringweave::detail::inline io
