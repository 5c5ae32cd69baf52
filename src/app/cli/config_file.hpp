// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <iosfwd>
#include <string>
#include <vector>

namespace ringweave::detail::inline app {

/// The configuration file of a command line.
struct ConfigFile {
  std::string path{};  ///< empty: there is none
  std::string text{};  ///< once it is read: a pipe can be read only once
};

/// Returns the file of --config, not read yet, and leaves an empty one in its place: the parser
/// opens it, and would wait for ever for a pipe to which nobody writes. Error  UsageError where
/// --config is given twice.
ConfigFile take_config_file(std::vector<std::string>& words);

/// Lets "lmax = 512" in a file set the option of the current subcommand, without a [section].
class FlatConfig : public CLI::ConfigBase {
 public:
  /// Refers to both.
  FlatConfig(const CLI::App& app, ConfigFile& file) : app_(app), file_(file) {
    comment('\0');  // from_config() cuts comments itself: # in quotes begins none
  }
  /// Reads the configuration file, whatever the parser has opened, and returns the options that it
  /// sets. Error  CLI::FileError where it cannot be read, so that --help has precedence; UsageError
  /// where a key is set twice or names another configuration file, a text in quotes does not end,
  /// or a table is of no command.
  std::vector<CLI::ConfigItem> from_config(std::istream& input) const override;

 private:
  const CLI::App& app_;
  ConfigFile& file_;
};

/// Returns "job.toml, line 3" for the line of the file that sets an option; empty where none does.
std::string config_place(const CLI::App& app, const ConfigFile& file, const std::string& option);

/// Returns what was wrong with an entry that the parser could not take, for the user: "job.toml,
/// line 3: unknown key lmaxx; did you mean lmax?".
std::string config_error_text(const CLI::App& app, const ConfigFile& file,
                              const CLI::ConfigError& error);

/// Returns the long names of all options of the program and of one command, with their dashes.
std::vector<std::string> option_names(const CLI::App& app, const CLI::App* command);

/// Returns the chosen command; null where there is none yet.
const CLI::App* chosen_command(const CLI::App& app);

}  // namespace ringweave::detail::inline app
