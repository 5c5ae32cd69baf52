// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "app/cli/options.hpp"

namespace ringweave::detail::inline app {

// Declare the options of one command each: name, type, checks, default and --help text.

void declare_common(CLI::App& app, CommonOptions& options);
void declare_synthesize(CLI::App& command, SynthesizeOptions& options);
void declare_analyze(CLI::App& command, AnalyzeOptions& options);
void declare_smooth(CLI::App& command, SmoothOptions& options);
void declare_alm(CLI::App& command, AlmOptions& options);
void declare_interpolate(CLI::App& command, InterpolateOptions& options);
void declare_lens(CLI::App& command, LensOptions& options);
void declare_gyroaverage(CLI::App& command, GyroaverageOptions& options);
void declare_convert(CLI::App& command, ConvertOptions& options);
void declare_compare(CLI::App& command, CompareOptions& options);
void declare_plot(CLI::App& command, PlotOptions& options);
void declare_calibrate(CLI::App& command, CalibrateOptions& options);
void declare_model(CLI::App& command, ModelOptions& options);
void declare_split(CLI::App& command, SplitOptions& options);
/// kinds  the names of the jobs there are
void declare_jobs(CLI::App& command, JobsOptions& options, const std::vector<std::string>& kinds);
void declare_info(CLI::App& command, InfoOptions& options);

}  // namespace ringweave::detail::inline app
