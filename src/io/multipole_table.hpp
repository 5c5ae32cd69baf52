// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

#include "io/fits/table.hpp"
#include "io/text_table.hpp"

namespace ringweave {

/// The l of the first row of a table whose first column is l. Error  DataError naming the line
/// unless l ascends by one from at most `latest_first`, or when there is no second column.
std::int64_t first_multipole(const TextTable& table, const std::string& path,
                             std::int64_t latest_first);

/// A FITS table of multipoles: a column of indices left out, the others finite and of equal length,
/// at least one.
FitsTable read_fits_multipoles(const std::string& path);

}  // namespace ringweave
