// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cmath>
#include <cstdint>

namespace ringweave::detail::inline io {

/// Highest degree a FITS file may hold; indices stay exact in double arithmetic.
constexpr int max_fits_degree = 524287;

/// Keyword with the number of tables of a_lm in a file, in each of them: one that was cut between
/// two HDUs has fewer.
constexpr const char* fits_alm_tables = "ALM_HDUS";

struct Degree {
  std::int64_t l = 0;
  std::int64_t m = 0;  ///< negative: not the index of a stored coefficient
};

/// Returns the index of (l, m) in healpy and HEALPix.
constexpr std::int64_t fits_alm_index(std::int64_t l, std::int64_t m) { return l * l + l + m + 1; }

/// Returns the degree and order of an index, for 1 <= index <= fits_alm_index(max_fits_degree,
/// max_fits_degree).
inline Degree degree_of(std::int64_t index) {
  const auto l = static_cast<std::int64_t>(std::sqrt(static_cast<double>(index - 1)));
  return {l, index - 1 - l * l - l};
}

}  // namespace ringweave::detail::inline io
