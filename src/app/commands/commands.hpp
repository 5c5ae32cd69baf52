// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/options.hpp"
#include "app/run.hpp"

namespace ringweave::detail::inline app {

/// Subcommands, one file each. All are collective and return the program's exit code.
int synthesize(Run& run, const SynthesizeOptions& options);
int analyze(Run& run, const AnalyzeOptions& options);
int smooth(Run& run, const SmoothOptions& options);
int alm(Run& run, const AlmOptions& options);
int interpolate(Run& run, const InterpolateOptions& options);
int lens(Run& run, const LensOptions& options);
int gyroaverage(Run& run, const GyroaverageOptions& options);
int convert(Run& run, const ConvertOptions& options);
int compare(Run& run, const CompareOptions& options);
int model(Run& run, const ModelOptions& options);
int plot(Run& run, const PlotOptions& options);
int calibrate(Run& run, const CalibrateOptions& options);
int split(Run& run, const SplitOptions& options);
int jobs(Run& run, const JobsOptions& options);
int info(Run& run, const InfoOptions& options);

}  // namespace ringweave::detail::inline app
