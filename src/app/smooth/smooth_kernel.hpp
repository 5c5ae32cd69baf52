// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/cli/options.hpp"
#include "app/run.hpp"
#include "ringweave/files.hpp"
#include "ringweave/grid.hpp"
#include "ringweave/kernel.hpp"
#include "ringweave/spectra.hpp"
#include "ringweave/transform.hpp"

namespace ringweave::detail::inline app {

/// Fields that a kernel acts on: those of spin are Q and U.
enum class Fields { scalar, spin };

/// Returns the given option that speaks of the error of cut kernels, --input-cl or --error; null
/// without.
inline const char* option_of_cuts(const SmoothOptions& options) {
  return !options.input_cl.empty() ? "--input-cl" : options.error ? "--error" : nullptr;
}

/// Returns C_l of T in a file that `option` names, from l = 0. Collective. Error  DataError.
std::vector<double> temperature_spectrum(Run& run, const std::string& path,
                                         const std::string& option, const std::string& cl_kind);
/// Returns C_l of --input-cl, from l = 0: those of T, or of E for Q and U. Collective. Error
/// DataError.
std::vector<double> input_spectrum(Run& run, const SmoothOptions& options, Fields fields);

/// Throws UsageError unless E and B have one beam. Those of their own need a second kernel, for the
/// conjugate of Q + i U.
void require_one_beam(const Beam& beam, const std::string& method);

/// The kernels of a convolution on rings, cut, and their errors: the larger one where there are two
/// kernels.
struct CutKernel {
  RadialKernel kernel;                      ///< of scalar fields, and of masks
  std::optional<RadialKernel> spin{};       ///< of Q and U
  std::optional<RadialKernel> conjugate{};  ///< of the conjugate of Q + i U; none: one beam
  double truncation = 0;                    ///< relative rms error of the cut (Eq. 7 of the paper)
  double error = 0;                         ///< allowed to cut and sums together
  double error_of_sums = 0;
  double beyond_grid = 0;            ///< part of sum_l (2l+1) K_l^2 above the grid's degrees
  std::vector<double> cl{};          ///< of --input-cl; empty: white noise
  std::vector<double> cl_of_spin{};  ///< the same of E
  bool has_scalars = true;           ///< false: `kernel` is of masks alone
  std::vector<double> b_l{};         ///< the beam that the kernel was made of; empty: none

  /// Returns the relative rms of the part of degrees above lmax in the smoothed maps, the
  /// larger one of scalar fields and of Q and U.
  double rms_beyond(int lmax) const;
};

/// The kernels of --fwhm, --beam or --kernel for some fields, cut at --support or where --error
/// allows it. Collective.
/// Error  UsageError when the kernel, the support and the error do not go together, or not with the
/// grid or the precision of the maps; DataError of the files.
CutKernel cut_kernel(Run& run, const SmoothOptions& options, const RingGrid& grid,
                     Precision precision, const FieldSet& fields);

/// Warns of a kernel that is narrow for the grid. Collective.
void warn_where_narrow(Run& run, const CutKernel& cut, const RingGrid& grid);

}  // namespace ringweave::detail::inline app
