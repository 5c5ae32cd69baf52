// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include "app/run.hpp"
#include "ringweave/files.hpp"
#include "ringweave/spectra.hpp"

namespace ringweave::detail::inline app {

/// The kind of --cl-kind: cl, dl or empty.
SpectrumKind spectrum_kind(const std::string& cl_kind);

/// The same for commands that read several files: only of those whose header does not say.
SpectrumKind unstated_kind(const std::string& cl_kind);

/// Returns the kind of the numbers of the file, in words: C_l or D_l.
const char* name_of_kind(const SpectraFile& file);

/// Says in one line how the numbers of a spectrum were taken, and warns of oddities.
void tell_of_spectra(Run& run, const std::string& path, const SpectraFile& file,
                     const std::string& cl_kind);

/// Reads spectra, which no output may replace, and reports them. Collective. Error  DataError.
SpectraFile spectra_of_file(Run& run, const std::string& path, const std::string& cl_kind);

/// Reads a table of factors b_l, once in a run, which no output may replace, and warns of
/// oddities and where it ends below lmax before it is small. Collective. Error  DataError.
Beam factors_of_file(Run& run, const std::string& path, int lmax);
/// Says where --fwhm, empty where it is not given, is 0 and smooths nothing.
void note_where_nothing_is_smoothed(Run& run, const std::string& fwhm);
/// Reads a beam likewise, and warns where it does not begin near 1. Collective. Error  DataError,
/// also for a pixel window where the command has an option for it, `window_option`.
Beam beam_of_file(Run& run, const std::string& path, int lmax,
                  const std::string& window_option = "");

}  // namespace ringweave::detail::inline app
