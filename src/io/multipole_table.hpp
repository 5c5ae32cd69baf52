// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

#include "io/fits/table.hpp"
#include "io/text_table.hpp"

namespace ringweave::detail::inline io {

/// Returns the l of the first row of a table whose first column is l. Error  DataError naming the
/// line unless l ascends by one from at most `latest_first`, or when there is no second column.
std::int64_t first_multipole(const TextTable& table, const std::string& path,
                             std::int64_t latest_first);

/// Reads a FITS table of multipoles without its index column; the other columns must be finite, of
/// equal length and not empty.
FitsTable read_fits_multipoles(const std::string& path);

}  // namespace ringweave::detail::inline io
