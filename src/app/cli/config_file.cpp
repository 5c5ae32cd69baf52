// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/config_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>

#include "app/cli/suggestion.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline app {
namespace {

std::string trimmed(std::string text) { return CLI::detail::trim(text); }

/// Returns where a text in quotes ends that begins at `begin`; npos where it does not. Only within
/// double quotes a backslash escapes what follows, also another backslash.
std::size_t end_of_text(const std::string& line, std::size_t begin) {
  const char quote = line[begin];
  bool is_escaped = false;
  for (std::size_t i = begin + 1; i < line.size(); ++i) {
    if (line[i] == quote && !is_escaped) return i;
    is_escaped = quote == '"' && line[i] == '\\' && !is_escaped;
  }
  return std::string::npos;
}

/// Returns a line without its comment; nothing where a text in quotes does not end. A quote begins
/// a text only where a key or a value begins: 5' is an angle.
std::optional<std::string> without_comment(const std::string& line) {
  bool begins = true;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '#') return trimmed(line.substr(0, i));
    if (begins && (c == '"' || c == '\'')) {
      i = end_of_text(line, i);
      if (i == std::string::npos) return std::nullopt;
    }
    begins = c == '=' || c == '[' || c == ',' || (begins && (c == ' ' || c == '\t'));
  }
  return trimmed(line);
}

/// Returns the text of a configuration file without comments, line by line. The parser would cut a
/// value at # also in quotes. Error  UsageError where a text in quotes does not end.
std::string without_comments(std::istream& file, const std::string& path) {
  std::string text;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    const std::optional<std::string> content = without_comment(line);
    ++number;
    if (!content) {
      throw UsageError(fmt::format(
          "{}, line {}: a text in quotes does not end; close it on the same line", path, number));
    }
    text += *content + '\n';
  }
  return text;
}

/// Returns a key's name as config_keys() does.
std::string short_name(const std::string& name, const std::string& command) {
  const std::string own = command + '.';
  return name.starts_with(own) ? name.substr(own.size()) : name;
}

std::string last_part(const std::string& name) { return name.substr(name.rfind('.') + 1); }

std::string name_of(const CLI::App* command) {
  return command == nullptr ? std::string() : command->get_name();
}

std::string at_line(const std::string& file, int line) {
  return line == 0 ? file : fmt::format("{}, line {}", file, line);
}

/// Returns the line of the file that sets a key of this name, or else of this last part; 0 where
/// none does.
int line_of(const CLI::App& app, const std::string& name) {
  std::ifstream file(config_file(app));
  const std::vector<ConfigKey> keys = config_keys(file, name_of(chosen_command(app)));
  const auto find = [&](const auto& is_it) {
    const auto found = std::find_if(keys.begin(), keys.end(), is_it);
    return found == keys.end() ? 0 : found->line;
  };
  const int line = find([&](const ConfigKey& key) { return key.name == name; });
  return line > 0 ? line : find([&](const ConfigKey& key) { return last_part(key.name) == name; });
}

/// Returns the first name of an option that has several, centre and center; that of others.
std::string first_name(const CLI::App& app, const std::string& name) {
  const CLI::App* command = chosen_command(app);
  for (const CLI::App* of : {command, &app}) {
    const CLI::Option* option = of == nullptr ? nullptr : of->get_option_no_throw("--" + name);
    if (option != nullptr) return option->get_lnames().front();
  }
  return name;
}

/// Returns the line where a table begins; 0 where it is not found.
int line_of_table(const std::string& text, const std::string& table) {
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line == '[' + table + ']') return number;
  }
  return 0;
}

/// Refuses tables that are of no command.
void refuse_tables(const CLI::App& app, const std::string& file, const std::string& text,
                   const std::vector<CLI::ConfigItem>& entries) {
  std::vector<std::string> commands;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    commands.push_back(command->get_name());
  for (const CLI::ConfigItem& item : entries) {
    const bool begins_table = item.name == "++";
    const std::string table = CLI::detail::join(item.parents, ".");
    const bool is_command = std::find(commands.begin(), commands.end(), table) != commands.end();
    if (!begins_table || is_command) continue;
    throw UsageError(fmt::format("{}: unknown table [{}]; expected the name of a command{}",
                                 at_line(file, line_of_table(text, table)), table,
                                 did_you_mean(table, commands)));
  }
}

void refuse_twice(const CLI::App& app, const std::string& file,
                  const std::vector<ConfigKey>& keys) {
  std::map<std::string, int> lines;
  for (const ConfigKey& key : keys) {
    const auto [before, is_new] = lines.emplace(first_name(app, key.name), key.line);
    if (is_new) continue;
    throw UsageError(fmt::format("{}, lines {} and {}: both set {}; leave one out", file,
                                 before->second, key.line, before->first));
  }
}

}  // namespace

std::vector<ConfigKey> config_keys(std::istream& file, const std::string& command) {
  std::vector<ConfigKey> keys;
  std::string table;
  int number = 0;
  bool in_list = false;  // of values, over several lines
  for (std::string line; std::getline(file, line);) {
    ++number;
    line = without_comment(line).value_or(line);
    if (in_list) {
      in_list = !line.ends_with(']');
      continue;
    }
    if (line.empty() || line.front() == ';') continue;
    if (line.front() == '[' && line.back() == ']') {
      table = line;
      table.erase(0, table.find_first_not_of('['));
      table.erase(std::min(table.size(), table.find(']')));
      if (table == "default") table.clear();
      continue;
    }
    const std::size_t equals = line.find('=');
    std::string name = trimmed(line.substr(0, equals));
    CLI::detail::remove_quotes(name);
    keys.push_back({short_name(table.empty() ? name : table + '.' + name, command), number});
    if (equals == std::string::npos) continue;
    const std::string value = trimmed(line.substr(equals + 1));
    in_list = value.starts_with('[') && !value.ends_with(']');
  }
  return keys;
}

std::vector<CLI::ConfigItem> FlatConfig::from_config(std::istream& input) const {
  const std::string command = name_of(chosen_command(*app_));
  const std::string file = config_file(*app_);
  const std::string text = without_comments(input, file);
  std::istringstream lines(text);
  const std::vector<ConfigKey> keys = config_keys(lines, command);
  refuse_twice(*app_, file, keys);
  for (const ConfigKey& key : keys) {
    if (key.name == "config") {
      throw UsageError(
          fmt::format("{}, line {}: a configuration file cannot name another; leave config out",
                      file, key.line));
    }
  }
  std::istringstream stream(text);
  std::vector<CLI::ConfigItem> entries = CLI::ConfigBase::from_config(stream);
  refuse_tables(*app_, file, text, entries);
  if (command.empty()) return entries;
  const std::vector<std::string> own{command};
  const auto is_common = [&](const CLI::ConfigItem& item) {
    return app_->get_option_no_throw("--" + item.name) != nullptr;
  };
  // Those in the tables of other commands are for these.
  for (const CLI::App* other : app_->get_subcommands([](const CLI::App*) { return true; })) {
    std::erase_if(entries, [&](const CLI::ConfigItem& item) {
      return other->get_name() != command && is_common(item) &&
             item.parents == std::vector<std::string>{other->get_name()};
    });
  }
  for (CLI::ConfigItem& item : entries) {
    if (item.parents.empty() && !is_common(item)) item.parents = own;
    if (item.parents == own && is_common(item)) item.parents.clear();
  }
  return entries;
}

std::string config_file(const CLI::App& app) {
  const CLI::Option* option = app.get_config_ptr();
  return option->count() > 0 ? option->as<std::string>() : "";
}

std::string config_place(const CLI::App& app, const std::string& option) {
  const std::string file = config_file(app);
  const int line = file.empty() || !option.starts_with("--") ? 0 : line_of(app, option.substr(2));
  return line == 0 ? "" : at_line(file, line);
}

std::string config_error_text(const CLI::App& app, const CLI::ConfigError& error) {
  const std::string file = config_file(app);
  const std::string message = error.what();
  constexpr std::string_view cannot_parse = "INI was not able to parse ";
  if (!message.starts_with(cannot_parse)) return file + ": " + message;
  const CLI::App* command = chosen_command(app);
  const std::string name = short_name(message.substr(cannot_parse.size()), name_of(command));
  const std::string table = name.substr(0, std::min(name.size(), name.rfind('.')));
  for (const CLI::App* other : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (other->get_name() == table) command = other;
  }
  std::vector<std::string> known;
  for (const std::string& option : option_names(app, command)) known.push_back(option.substr(2));
  return fmt::format("{}: unknown key {}{}", at_line(file, line_of(app, name)), name,
                     did_you_mean(last_part(name), known));
}

std::vector<std::string> option_names(const CLI::App& app, const CLI::App* command) {
  std::vector<std::string> names;
  const auto add = [&](const CLI::App& of) {
    for (const CLI::Option* option : of.get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
  };
  add(app);
  if (command != nullptr) add(*command);
  return names;
}

const CLI::App* chosen_command(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? nullptr : chosen.front();
}

}  // namespace ringweave::detail::inline app
