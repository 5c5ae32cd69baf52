// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include "ringweave/alm.hpp"
#include "ringweave/files.hpp"

namespace ringweave::detail::inline app {

/// The columns of a map file that are transformed together, and the fields they form.
struct FieldChoice {
  std::string name;                     ///< T, TQU, QU or all
  std::vector<int> columns;             ///< of the file, one per component
  std::vector<std::string> components;  ///< of the a_lm: T, E, B; for all: the columns' names
  FieldSet fields{{0}};
};

/// Returns the fields "T", "TQU", "QU" of --fields. Error  UsageError.
FieldChoice fields_named(const std::string& name);

/// Returns the fields that --fields selects from a file; default: TQU or QU if columns have such
/// names, else T. "all" is every column as a scalar field. Error  DataError when the file lacks a
/// column.
FieldChoice choose_fields(const std::string& path, const MapHeader& header,
                          const std::string& asked);

/// Returns the fields of one (T), two (E, B) or three components (T, E, B); more are treated as
/// scalars. Error  DataError where two or three have other names.
FieldSet fields_of(const std::string& path, const AlmHeader& header);

/// Returns the components that --fields selects from a_lm in a file; default: TQU of three or more,
/// QU of two, else T. They are found by their names where one is T, E or B, else by their places;
/// a single one is a scalar of any name. Error  DataError when the file lacks one.
FieldChoice choose_components(const std::string& path, const AlmHeader& header,
                              const std::string& asked);

/// Returns the column of a map that an option names, or gives by its number from 0. Error
/// UsageError.
int choose_column(const std::string& option, const std::string& asked, const std::string& path,
                  const MapHeader& header);

/// Returns standard column names with units: TEMPERATURE, Q_POLARISATION, U_POLARISATION.
std::vector<MapColumn> standard_columns(const FieldChoice& choice, const std::string& unit);

/// Returns the names of the map's columns that are not of the choice.
std::vector<std::string> columns_left_out(const MapHeader& header, const FieldChoice& choice);

}  // namespace ringweave::detail::inline app
