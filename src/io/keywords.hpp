// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>

namespace ringweave::detail::inline io {

/// FITS keywords and HDF5 attributes that describe how a map was processed.
inline constexpr std::array processing_keywords{
    "FWHM",    "BEAM_LEG", "PIXWIN",   "CL_KIND",  "SEED",     "NSEED",    "SMETHOD", "SUPPORT",
    "KERNERR", "SPLIT",    "MAX-LPOL", "NITERALM", "QUADSCHM", "LREGRESS", "MASK",    "FSKY"};

/// Returns a keyword or name in capitals.
inline std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

/// Replaces every `from` in the text.
inline void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

}  // namespace ringweave::detail::inline io
