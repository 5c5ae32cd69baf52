// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>

#include "app/cli/options.hpp"
#include "app/outputs.hpp"
#include "app/progress.hpp"
#include "base/stage_timer.hpp"
#include "perf_models/machine.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/execution.hpp"
#include "ringweave/files.hpp"

namespace ringweave::detail::inline app {

/// Reads and writes the files of a run, and counts their bytes and seconds.
struct FileTraffic {
  Communicator comm;  ///< carries messages of files only
  StageTimes times{};
  std::int64_t bytes_read = 0;     ///< as stored in the files, by all ranks
  std::int64_t bytes_written = 0;  ///< the same, on rank 0
};

/// The entries a subcommand adds to --report. Files that add some include nlohmann/json.hpp, which
/// is kept out of this header because it is slow to compile.
class Report {
 public:
  Report();
  ~Report();

  /// The entry of that name, null where it is new.
  nlohmann::ordered_json& operator[](const std::string& name);
  const nlohmann::ordered_json& entries() const { return *entries_; }

 private:
  std::unique_ptr<nlohmann::ordered_json> entries_;
};

/// Context of a subcommand: ranks, common options, times and report.
struct Run {
  Communicator comm;
  CommonOptions options;
  std::string command_line;
  std::string used_configuration;
  Machine machine;  ///< from which seconds are predicted
  Progress progress;
  StageTimes times;
  Report report;
  Outputs outputs;
  std::int64_t bytes_read = 0;     ///< of maps and a_lm, as stored in their files, by all ranks
  std::string conclusion;          ///< a line of results to say when all outputs are in place
  std::int64_t bytes_written = 0;  ///< of outputs that are in place already, on rank 0
  std::set<std::string> printed_notes{};    ///< notes and warnings
  std::map<std::string, BeamFile> beams{};  ///< those read so far, by their files

  /// Version, date, command line, configuration, input; the subcommand adds the rest.
  Provenance provenance(const std::string& input = "") const;
  /// Prints a line of results to stdout, on rank 0; ends the line of the progress.
  void print_line(const std::string& line);
  /// The same, only with --verbose.
  void detail(const std::string& line);
  /// Writes a line to stderr on rank 0 that begins with "note: ", an assumption; each line once.
  void note(const std::string& line);
  /// Writes a line to stderr on rank 0 that begins with "warning: "; each line once.
  void warn(const std::string& line);
};

/// Adds times and bytes to the run's.
void add_traffic(Run& run, const FileTraffic& traffic);

/// {"min", "mean", "max"} of one number of every rank. Collective.
nlohmann::ordered_json over_ranks(const Communicator& comm, double value);

/// Versions of the program, command line, options in use and date, with which every JSON file
/// begins.
nlohmann::ordered_json json_of_origin(const Run& run);

/// Prints the seconds of all stages with --verbose. Collective.
void tell_stages(Run& run);

/// Writes run.report with versions, layout, stages (min, mean, max over ranks), rates of the files
/// and memory to the output of options.report, if asked. Collective.
void write_report(Run& run);

/// Writes a text file among the run's outputs. Collective. Error  ResourceError.
void write_text(Run& run, const std::string& path, const std::string& text);

/// Current time, ISO 8601, UTC.
std::string utc_now();

}  // namespace ringweave::detail::inline app
