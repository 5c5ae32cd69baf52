// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace ringweave::detail::inline io {

/// FITS keywords and HDF5 attributes that describe how a map was processed.
inline constexpr std::array processing_keywords{"FWHM",     "BEAM_LEG", "PIXWIN",   "CL_KIND",
                                                "SEED",     "SMETHOD",  "SUPPORT",  "KERNERR",
                                                "MAX-LPOL", "NITERALM", "QUADSCHM", "LREGRESS"};

/// Returns a keyword or name in capitals.
inline std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

}  // namespace ringweave::detail::inline io
