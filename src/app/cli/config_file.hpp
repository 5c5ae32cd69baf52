// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <iosfwd>
#include <string>
#include <vector>

namespace ringweave::detail::inline app {

/// A key of a configuration file, and the line that sets it.
struct ConfigKey {
  std::string name;  ///< with the table it is in, e.g. analyze.lmax
  int line;          ///< from 1
};

/// Returns the keys of a configuration file in their order. Those of `command` have the same name
/// in its table, [smooth], as outside of any.
std::vector<ConfigKey> config_keys(std::istream& file, const std::string& command);

/// Lets "lmax = 512" in a file set the option of the current subcommand, without a [section].
class FlatConfig : public CLI::ConfigBase {
 public:
  explicit FlatConfig(const CLI::App* app) : app_(app) {
    comment('\0');  // from_config() cuts comments itself: # in quotes begins none
  }
  /// Returns the options that a file sets. Error  UsageError where a key is set twice or names
  /// another configuration file, a text in quotes does not end, or a table is of no command.
  std::vector<CLI::ConfigItem> from_config(std::istream& input) const override;

 private:
  const CLI::App* app_;
};

/// Returns the file of --config; empty without.
std::string config_file(const CLI::App& app);

/// Returns "job.toml, line 3" for the line of --config's file that sets an option; empty where none
/// does.
std::string config_place(const CLI::App& app, const std::string& option);

/// Returns what was wrong with an entry that the parser could not take, for the user: "job.toml,
/// line 3: unknown key lmaxx; did you mean lmax?".
std::string config_error_text(const CLI::App& app, const CLI::ConfigError& error);

/// Returns the long names of all options of the program and of one command, with their dashes.
std::vector<std::string> option_names(const CLI::App& app, const CLI::App* command);

/// Returns the chosen command; null where there is none yet.
const CLI::App* chosen_command(const CLI::App& app);

}  // namespace ringweave::detail::inline app
