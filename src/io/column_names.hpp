// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

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

}  // namespace ringweave::detail::inline io
