// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>

namespace ringweave::detail::inline io {

/// FITS keywords and HDF5 attributes that describe how a map was processed.
inline constexpr std::array processing_keywords{"FWHM",     "BEAM_LEG", "SMETHOD",
                                                "SUPPORT",  "KERNERR",  "MAX-LPOL",
                                                "NITERALM", "QUADSCHM", "LREGRESS"};

}  // namespace ringweave::detail::inline io
