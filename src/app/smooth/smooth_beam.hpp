// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/cli/options.hpp"
#include "app/run.hpp"
#include "ringweave/files.hpp"
#include "ringweave/grid.hpp"
#include "ringweave/spectra.hpp"

namespace ringweave::detail::inline app {

/// Tells whether the options name a beam or a pixel window that the map has already.
bool has_beam_before(const SmoothOptions& options);

/// UsageError unless the smoothing is given in one way, and its options go together.
void require_one_kernel(const SmoothOptions& options);

/// Reads the factors for the a_lm of a map on `grid`: the beam of --fwhm, --beam or --kernel times
/// --pixel-window, over those that the map has, --from-fwhm, --from-beam and --from-pixel-window.
/// Collective.
/// Error  DataError of the files, UsageError where the map has nothing left of a degree.
Beam beam_of(Run& run, const SmoothOptions& options, const RingGrid& grid, int lmax);

/// Warns where such a beam b_l of T raises a_lm. For the method that is used alone.
void warn_where_raised(Run& run, const SmoothOptions& options, const std::vector<double>& b_l);

/// The full width of the Gaussian that --fwhm asks for, less that of --from-fwhm, in radians;
/// nothing where the kernel is not such a Gaussian.
std::optional<double> gaussian_width(const SmoothOptions& options);

/// Warns where --pixel-window would smooth a map a second time: its header says that a window was
/// applied, and --from-pixel-window does not replace that.
void warn_of_second_window(Run& run, const SmoothOptions& options, const std::string& path,
                           const FileOrigin& origin);

/// Warns where the header of a map names another Gaussian beam than --from-fwhm.
void warn_of_other_beam(Run& run, const SmoothOptions& options, const std::string& path,
                        const FileOrigin& origin);

/// Records the beam that a map has after its smoothing.
void put_beam(const SmoothOptions& options, Provenance& provenance);

}  // namespace ringweave::detail::inline app
