// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/keywords.hpp"

namespace ringweave::detail::inline io {

/// Returns names for the columns of a map whose file gives none: T; Q and U; T, Q and U; else
/// numbers.
inline std::vector<std::string> standard_column_names(std::int64_t n_columns) {
  if (n_columns == 1) return {"TEMPERATURE"};
  if (n_columns == 2) return {"Q_POLARISATION", "U_POLARISATION"};
  if (n_columns == 3) return {"TEMPERATURE", "Q_POLARISATION", "U_POLARISATION"};
  std::vector<std::string> names;
  for (std::int64_t c = 1; c <= n_columns; ++c) names.push_back(fmt::format("COLUMN_{}", c));
  return names;
}

/// Returns true if numbers of a file, real ones or integers of so many bytes, are exact in single
/// precision.
inline bool fits_single(bool are_real, std::int64_t bytes) { return bytes <= (are_real ? 4 : 2); }

/// Returns true if a column is named after a Stokes parameter: Q_POLARISATION, Q-POLARISATION,
/// Q_STOKES, Q, q_pol ... but not QUADRUPOLE.
inline bool is_stokes(const std::string& column, char letter) {
  if (column.empty() || std::toupper(static_cast<unsigned char>(column[0])) != letter) return false;
  return column.size() == 1 || std::isalpha(static_cast<unsigned char>(column[1])) == 0;
}

/// Returns true if a column is named as the numbers of pixels are.
inline bool is_pixel_name(const std::string& column) {
  constexpr std::array<std::string_view, 6> names{"PIXEL", "PIX",      "PIXELS",
                                                  "IPIX",  "HPXINDEX", "HPX_INDEX"};
  return std::find(names.begin(), names.end(), upper(column)) != names.end();
}

}  // namespace ringweave::detail::inline io
