// SPDX-License-Identifier: GPL-3.0-or-later
// What the sources of the extension give to each other.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "arrays.hpp"

#include <ringweave/alm.hpp>
#include <ringweave/analysis.hpp>
#include <ringweave/communicator.hpp>
#include <ringweave/grid.hpp>
#include <ringweave/spectra.hpp>

namespace ringweave::python {

/// A grid, shared by all that is made for it.
struct GridHandle {
  std::shared_ptr<const RingGrid> grid;  ///< never null
};

/// Spectra of a dict {"TT": array, ...} of arrays of equal length.
/// Error  UsageError for another name or arrays of different lengths.
Spectra spectra_of(const nb::dict& values);
/// Returns {"TT": array, ...}.
nb::dict dict_of(const Spectra& spectra);

/// Function for an analysis that lets Ctrl-C through and calls `callback(pass, passes, residual)`
/// unless it is None. All ranks agree on exceptions.
AnalysisProgress progress_for(const Communicator& comm, nb::handle callback);

/// Returns {"iterations": ..., "transforms": ..., "residuals": array}.
nb::dict dict_of(const AnalysisReport& report);

void bind_communicators(nb::module_& module);  ///< Comm, and moves of data between ranks
void bind_grids(nb::module_& module);          ///< Grid, Rings, AlmLayout
void bind_transforms(nb::module_& module);     ///< Transform
void bind_spectra(nb::module_& module);        ///< a_lm, spectra and beams
void bind_convolutions(nb::module_& module);   ///< kernels, and convolutions on rings
void bind_smoothing(nb::module_& module);      ///< smoothing with holes and masks
void bind_files(nb::module_& module);          ///< maps, a_lm and spectra in files
void bind_points(nb::module_& module);         ///< transforms to points
void bind_lensing(nb::module_& module);        ///< deflections and lensed maps
void bind_gyroaverages(nb::module_& module);   ///< averages over circles in the plane

}  // namespace ringweave::python
