// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include "ringweave/files.hpp"
#include "ringweave/spectra.hpp"

namespace ringweave::detail::inline io {

struct FitsTable {
  std::vector<std::string> column_names;
  std::vector<std::vector<double>>
      columns;  ///< vectors in cells are flattened; columns without numbers are omitted
};

/// Reads the first table of a file, binary or ASCII; without one, the rows of a two-dimensional
/// primary array as columns (IDL beam files). Reads all of it on this rank. Not collective. Error
/// DataError, also above 2^27 numbers.
FitsTable read_fits_table(const std::string& path);

/// Reads a table of multipoles without its index column; the other columns must be finite, of equal
/// length and not empty.
FitsTable read_fits_multipoles(const std::string& path);

/// Writes to `path`, which must be safe to replace, a binary table by rising l; gzipped when the
/// name ends in .gz. Columns are in HEALPix's order TEMPERATURE (TT), GRADIENT (EE), CURL (BB), G-T
/// (TE), and if given C-T (TB), C-G (EB): note TB before EB. Temperature alone if there is no other
/// spectrum. Not collective. Error  ResourceError.
void write_fits_spectra(const std::string& path, const Spectra& spectra,
                        const Provenance& provenance, const std::string& unit);

}  // namespace ringweave::detail::inline io
