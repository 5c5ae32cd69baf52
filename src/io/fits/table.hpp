// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "io/fits/file.hpp"
#include "io/table_kind.hpp"
#include "ringweave/files.hpp"
#include "ringweave/spectra.hpp"

namespace ringweave::detail::inline io {

/// Its `column_names` are those of columns with numbers.
struct FitsTable : TableHead {
  std::string creator;                       ///< CREATOR
  std::vector<std::string> units;            ///< of the columns
  std::vector<std::vector<double>> columns;  ///< vectors in cells are flattened; columns without
                                             ///< numbers are omitted
};

/// Returns the header of the current table: all but `columns`. Not collective.
FitsTable read_table_head(const FitsFile& file, const FitsTableShape& shape);

/// Returns the heads of all tables of a file. Not collective. Error  DataError.
std::vector<TableHead> fits_table_heads(const std::string& path);

/// Returns in words the contents of a file's tables and images, by the first with a known
/// kind; empty where none has one. Not collective.
std::string words_of_content(FitsFile& file);

/// Reads a table of a file, binary or ASCII: the first whose header `accepts` (all but the
/// `columns` is set); without tables, the rows of a two-dimensional primary array as columns (IDL
/// beam files). Reads all of it on this rank. Not collective. Error  DataError, also above 2^27
/// numbers, and when none is accepted.
FitsTable read_fits_table(const std::string& path,
                          const std::function<bool(const FitsTable&)>& accepts);
/// Reads the table `number` among the tables, from 0.
FitsTable read_fits_table(const std::string& path, std::size_t number = 0);

/// Leaves out the columns whose names `is_wanted` refuses.
void keep_columns(FitsTable& table, const std::function<bool(const std::string&)>& is_wanted);

/// A table by l without its index column. The other columns are finite, of equal length and not
/// empty.
struct FitsMultipoles : FitsTable {
  std::int64_t first = 0;  ///< l of the first row: that of a column of l; other index columns count
                           ///< rows from l = 0
};
/// Makes it of a table of the file `path`. Error  DataError.
FitsMultipoles multipoles_of(FitsTable table, const std::string& path);

/// Writes to `path`, which must be safe to replace, a binary table by rising l; gzipped when the
/// name ends in .gz. Columns are in HEALPix's order TEMPERATURE (TT), GRADIENT (EE), CURL (BB), G-T
/// (TE), and if given C-T (TB), C-G (EB): note TB before EB. Temperature alone if there is no other
/// spectrum. Not collective. Error  ResourceError.
void write_fits_spectra(const std::string& path, const Spectra& spectra,
                        const Provenance& provenance, const std::string& unit);

}  // namespace ringweave::detail::inline io
