// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/smooth/smoothing_method.hpp"

namespace ringweave::detail::inline app {

/// The maps the job has to do, each with its output. Collective. Error  UsageError.
MapList list_smoothings(Run& run, const SmoothOptions& options);

/// Opens the inputs, checks that they are alike, and warns of oddities. The first stays
/// open where it is the only one. Collective. Error  DataError.
void open_inputs(Run& run, SmoothJob& job);

/// Takes all maps of the job from their files through the method to their files, or only plans that
/// with --dry-run. Returns the exit code. Collective.
int smooth_maps(Run& run, SmoothJob& job, SmoothingMethod& method);

}  // namespace ringweave::detail::inline app
