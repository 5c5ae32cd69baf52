// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <string>

#include "app/cli/options.hpp"
#include "app/run.hpp"

namespace ringweave::detail::inline app {

/// Result of parsing the command line.
struct ParsedCommand {
  CommonOptions common;
  std::string command_line;          ///< as typed
  std::string used_configuration;    ///< every option with its value, TOML
  std::string config;                ///< the file of --config; empty without
  std::string text;                  ///< help or version to print instead of running the command
  bool resumes = false;              ///< replaces outputs that exist only in part, and a report
  bool plans_other_runs = false;     ///< whose --threads need not fit this computer
  std::function<int(Run&)> execute;  ///< empty when there is only text
};

/// Parses the arguments and the file of --config. Error  UsageError for anything CLI11 refuses.
ParsedCommand parse_command_line(int argc, const char* const* argv);

}  // namespace ringweave::detail::inline app
