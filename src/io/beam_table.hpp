// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <string>
#include <vector>

namespace ringweave::detail::inline io {

/// A beam as it stands in a file.
struct BeamTable {
  std::array<std::vector<double>, 3> columns;  ///< b_T, b_E, b_B from l = 0; empty: not there
  std::vector<std::string> warnings;
};

// On this rank alone. What the columns are, see read_beam() in ringweave/files.hpp. Error
// DataError.

BeamTable read_text_beam(const std::string& path);
BeamTable read_fits_beam(const std::string& path);

}  // namespace ringweave::detail::inline io
