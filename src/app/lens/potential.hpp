// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include "app/alm_source.hpp"
#include "app/cli/options.hpp"
#include "app/lens/lens_job.hpp"
#include "app/run.hpp"
#include "ringweave/files.hpp"
#include "ringweave/lensing.hpp"

namespace ringweave::detail::inline app {

/// The lensing potential of a run: in files, or drawn with the a_lm from a spectrum.
struct PotentialSource {
  std::unique_ptr<AlmReader> phi;   ///< null: drawn
  std::unique_ptr<AlmReader> curl;  ///< null: none
  int lmax = 0;
  int mmax = 0;
};

/// Opens the files of the potential, which no output may replace. Says where one has degrees above
/// --lmax, where that is not the lmax of an adjoint, or other coordinates than the job. A potential
/// that is drawn has the degrees of the job's a_lm. Collective. Error  DataError.
PotentialSource open_potential(Run& run, const LensJob& job);

/// Reads or draws the potential, writes it where --save-potential asks for it, and returns its
/// deflection of the job's grid. Collective. Error  DataError.
Deflection make_deflection(Run& run, const LensJob& job, const PotentialSource& source,
                           const AlmSource& drawn_from);

/// Prints and records the size of a deflection; warns where it is not that of a lensing potential.
void tell_of_deflection(Run& run, const LensOptions& options, const Deflection& deflection);

/// Returns the inverse of a deflection. Collective. Error  DataError naming the potential.
Deflection inverse_of(Run& run, const LensOptions& options, const Deflection& deflection);

/// Writes the map of --deflection, if it is asked for. Collective.
void write_deflection(Run& run, const LensJob& job, const Deflection& deflection);

}  // namespace ringweave::detail::inline app
