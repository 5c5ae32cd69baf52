// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "app/options.hpp"
#include "app/progress.hpp"
#include "base/stage_timer.hpp"
#include "distribute/communicator.hpp"
#include "io/file_kind.hpp"
#include "io/provenance.hpp"
#include "transform/spherical_harmonic_transform.hpp"

namespace ringweave {

/// What every subcommand gets: the ranks, the common options, where times and results go.
struct Run {
  Communicator comm;
  CommonOptions options;
  std::string command_line;
  std::string used_configuration;
  Progress progress;
  StageTimes times;
  nlohmann::ordered_json report;  ///< what the subcommand adds to --report

  IfExists if_exists() const { return options.overwrite ? IfExists::overwrite : IfExists::fail; }
  /// Version, date, command line, configuration; the subcommand adds the rest.
  Provenance provenance() const;
  /// Prints a line of results to stdout, on rank 0; ends the line of the progress.
  void say(const std::string& line);
  /// The same, only with --verbose.
  void detail(const std::string& line);
  /// A line to stderr on rank 0 that begins with "warning: ".
  void warn(const std::string& line);
};

/// Adds the transform's stages, layout and rates to the run. Collective.
void record_transform(Run& run, SphericalHarmonicTransform& transform, int n_transforms);

/// Writes run.report with versions, layout, stages (min, mean, max over ranks) and memory to
/// options.report, if asked. Collective.
void write_report(Run& run);

/// Current time, ISO 8601, UTC.
std::string utc_now();

}  // namespace ringweave
