// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ringweave/communicator.hpp"
#include "ringweave/files.hpp"
#include "ringweave/spectra.hpp"

namespace ringweave::detail::inline io {

/// The contents of a table, as far as its names show.
enum class TableKind {
  unknown,
  map,
  alm,
  spectra,
  beam,
  pixel_window,
  ring_weights,
  pixel_weights
};

/// Returns it in words, "a sky map" or "spectra".
std::string words_of(TableKind kind);

/// Returns TT for TT, C_TT, Cl_TT, DlTT, D_l^TT, TT[uK^2]; empty for other words.
std::optional<Spectra::Name> spectrum_of(const std::string& word);

/// A name of HEALPix for a column, or one by which other programs know the spectrum.
struct SpectrumColumn {
  std::string_view column;  ///< in capitals
  Spectra::Name name;
};
/// The columns of FITS in HEALPix's order: note TB before EB, and that G-T is TE and T-G is ET.
inline constexpr std::array<SpectrumColumn, Spectra::n_names> healpix_spectra{
    {{"TEMPERATURE", Spectra::TT},
     {"GRADIENT", Spectra::EE},
     {"CURL", Spectra::BB},
     {"G-T", Spectra::TE},
     {"C-T", Spectra::TB},
     {"C-G", Spectra::EB},
     {"T-G", Spectra::ET},
     {"T-C", Spectra::BT},
     {"G-C", Spectra::BE},
     {"P-P", Spectra::PP},
     {"P-T", Spectra::TP},
     {"P-G", Spectra::EP}}};

/// Returns the spectrum that a column is named after: as spectrum_of() in small or capital letters,
/// or as HEALPix or CAMB names it, TEMPERATURE, G-T, TG, `E-mode C_l`; empty for other names.
std::optional<Spectra::Name> spectrum_of_column(const std::string& name);
/// Returns true for a spectrum without the names of its fields: C_l, D_ELL.
bool names_some_spectrum(const std::string& name);

/// Returns spectra where a column has a name that beams do not have (TE, G-T, C_TT), beam where one
/// has that of a beam (BL, INT_BEAM), else unknown: T, TT and TEMPERATURE may be both.
TableKind kind_of_columns(const std::vector<std::string>& names);

/// The header of a table.
struct TableHead {
  std::string extension;   ///< EXTNAME
  std::int64_t nside = 0;  ///< NSIDE; 0: absent
  bool is_map = false;     ///< has keywords of a HEALPix map
  std::int64_t rows = 0;   ///< numbers of the first column
  std::vector<std::string> column_names;
  TableKind kind = TableKind::unknown;  ///< that of the others
  FileOrigin origin{};
};

/// Returns the kind by the other members of a head. A table without a telling name that has an
/// NSIDE and the rows of a full sky is a map.
TableKind kind_of(const TableHead& head);

/// Returns true if a column of a pixel window's table is of the window and not of a beam next to
/// it: PIXWIN is in its name, or in that of no column and its name is not that of a beam.
bool is_of_pixel_window(const TableHead& table, const std::string& column);

/// Returns the heads of all tables of a FITS file; of text that holds a beam, its only one; of
/// other files none. Collective. Error  DataError.
std::vector<TableHead> table_heads(const Communicator& comm, const std::string& path);

}  // namespace ringweave::detail::inline io
