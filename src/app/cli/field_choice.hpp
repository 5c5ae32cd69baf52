// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include "io/map_file.hpp"
#include "sphere/field_set.hpp"

namespace ringweave {

/// Which columns of a map file go through a transform together, and as what.
struct FieldChoice {
  std::string name;                     ///< T, TQU, QU or all
  std::vector<int> columns;             ///< of the file, one for each component
  std::vector<std::string> components;  ///< of the a_lm: T, E, B; the columns' names for all
  FieldSet fields{{0}};
};

/// "T", "TQU", "QU" as --fields takes them. Error  UsageError.
FieldChoice fields_named(const std::string& name);

/// What --fields asks of a file, by default what the file holds: TQU or QU where columns are named
/// so, else T; "all" is every column as a scalar field. Error  DataError when the file lacks a
/// column.
FieldChoice choose_fields(const std::string& path, const MapHeader& header,
                          const std::string& asked);

/// Standard column names, units added: TEMPERATURE, Q_POLARISATION, U_POLARISATION.
std::vector<MapColumn> standard_columns(const FieldChoice& choice, const std::string& unit);

}  // namespace ringweave
