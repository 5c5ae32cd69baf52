// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <string>
#include <vector>

#include "io/table_kind.hpp"

namespace ringweave::detail::inline io {

/// A beam as it stands in a file.
struct BeamTable {
  std::array<std::vector<double>, 3> columns;  ///< b_T, b_E, b_B from l = 0; empty: not there
  std::vector<std::string> warnings;
};

// On this rank alone. Columns are explained at read_beam() in ringweave/files.hpp. Error DataError.

BeamTable read_text_beam(const std::string& path);
BeamTable read_fits_beam(const std::string& path);

/// Returns the header of a text with a beam. Error  DataError also where neither names nor a
/// first value near 1 show that it is one.
TableHead text_beam_head(const std::string& path);

/// Returns true if the table that a beam would be read from holds a pixel window alone.
bool is_pixel_window(const std::vector<TableHead>& heads);

}  // namespace ringweave::detail::inline io
