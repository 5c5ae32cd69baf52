// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include "io/atomic_output.hpp"
#include "ringweave/files.hpp"
#include "ringweave/spectra.hpp"

namespace ringweave::detail::inline io {

/// Writes to the temporary name of `output`, which the caller commits (with others). Collective;
/// arguments as those of the function in ringweave/files.hpp.
void write_spectra(const AtomicOutput& output, const Provenance& provenance, const Spectra& spectra,
                   const std::string& unit);

// Spectra in each kind of file, on this rank alone. Error  DataError on reading, ResourceError on
// writing.

/// Columns are identified by a header line that names them (`# l TT EE BB TE`), else by position:
/// TT; TT EE BB TE; TT EE BB TE EB TB. l ascends by one from 0, 1 or 2. Names that are no spectrum
/// are left out; two of one spectrum are an error.
SpectraFile read_text_spectra(const std::string& path,
                              SpectrumKind kind = SpectrumKind::stated_or_c_l);
/// Columns by their names, as in text, or HEALPix's (in files by healpy C-T and C-G are EB and TB);
/// where none is known by position, TT EE BB TE TB EB ET BT BE. An index column is skipped.
SpectraFile read_fits_spectra(const std::string& path, SpectrumKind kind);
/// Reads the one dataset of /cl.
SpectraFile read_hdf5_spectra(const std::string& path, SpectrumKind kind);

/// Returns how many columns a text or FITS file has: TT; with EE, BB, TE; with EB, TB; with ET, BE
/// and BT of two skies. Absent spectra among them are zero.
int n_spectra_to_write(const Spectra& spectra);
/// Tells whether there are ET, BE or BT, which differ from TE, EB and TB only of two skies.
bool has_two_skies(const Spectra& spectra);

void write_text_spectra(const std::string& path, const Spectra& spectra,
                        const Provenance& provenance, const std::string& unit);
void write_hdf5_spectra(const std::string& path, const Spectra& spectra,
                        const Provenance& provenance, const std::string& unit);

}  // namespace ringweave::detail::inline io
