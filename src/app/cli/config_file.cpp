// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/config_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>

#include "app/cli/config_text.hpp"
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
std::string without_comments(const ConfigFile& file) {
  std::istringstream lines(file.text);
  std::string text;
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::optional<std::string> content = without_comment(line);
    ++number;
    if (!content) {
      throw UsageError(
          fmt::format("{}, line {}: a text in quotes does not end; close it on the same line",
                      file.path, number));
    }
    text += *content + '\n';
  }
  return text;
}

/// A key or a table of a configuration file.
struct ConfigName {
  std::string name;  ///< of a key with the table it is in, e.g. analyze.lmax
  int line;          ///< from 1
};

/// The names of a configuration file in their order.
struct ConfigNames {
  std::vector<ConfigName> tables{};
  std::vector<ConfigName> keys{};
};

/// Returns the name of a key without the table of `command`, [smooth]: it has the same one outside
/// of any table.
std::string short_name(const std::string& name, const std::string& command) {
  const std::string own = command + '.';
  return name.starts_with(own) ? name.substr(own.size()) : name;
}

std::string last_part(const std::string& name) { return name.substr(name.rfind('.') + 1); }

std::string name_of(const CLI::App* command) {
  return command == nullptr ? std::string() : command->get_name();
}

std::string at_line(const ConfigFile& file, int line) {
  return line == 0 ? file.path : fmt::format("{}, line {}", file.path, line);
}

/// Returns the beginning of a name that is too long for a message.
std::string shortened(const std::string& name) {
  constexpr std::size_t most = 80;
  return name.size() <= most ? name : name.substr(0, most) + "...";
}

/// Finds the names in a text, of which comments may be left out.
ConfigNames names_in(const std::string& text, const std::string& command) {
  ConfigNames names;
  std::string table;
  int number = 0;
  bool in_list = false;  // of values, over several lines
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
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
      CLI::detail::remove_quotes(table);
      if (CLI::detail::to_lower(table) == "default") {
        table.clear();
      } else {
        names.tables.push_back({table, number});
      }
      continue;
    }
    const std::size_t equals = line.find('=');
    std::string name = trimmed(line.substr(0, equals));
    CLI::detail::remove_quotes(name);
    names.keys.push_back({short_name(table.empty() ? name : table + '.' + name, command), number});
    if (equals == std::string::npos) continue;
    const std::string value = trimmed(line.substr(equals + 1));
    in_list = value.starts_with('[') && !value.ends_with(']');
  }
  return names;
}

/// Returns the line of the file that sets a key of this name, or else of this last part; 0 where
/// none does.
int line_of(const CLI::App& app, const ConfigFile& file, const std::string& name) {
  const std::vector<ConfigName> keys = names_in(file.text, name_of(chosen_command(app))).keys;
  const auto find = [&](const auto& is_it) {
    const auto found = std::find_if(keys.begin(), keys.end(), is_it);
    return found == keys.end() ? 0 : found->line;
  };
  const int line = find([&](const ConfigName& key) { return key.name == name; });
  return line > 0 ? line : find([&](const ConfigName& key) { return last_part(key.name) == name; });
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

/// Refuses tables that are of no command.
void refuse_tables(const CLI::App& app, const ConfigFile& file,
                   const std::vector<ConfigName>& tables) {
  std::vector<std::string> commands;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    commands.push_back(command->get_name());
  for (const ConfigName& table : tables) {
    if (std::find(commands.begin(), commands.end(), table.name) != commands.end()) continue;
    const std::string name = shortened(table.name);
    throw UsageError(fmt::format("{}: unknown table [{}]; expected the name of a command{}",
                                 at_line(file, table.line), name, did_you_mean(name, commands)));
  }
}

/// Refuses keys that are set twice, names of many parts, which the parser leaves out or takes
/// long for, and other configuration files.
void refuse_keys(const CLI::App& app, const ConfigFile& file, const std::vector<ConfigName>& keys) {
  std::map<std::string, int> lines;
  for (const ConfigName& key : keys) {
    if (std::count(key.name.begin(), key.name.end(), '.') > 1) {
      throw UsageError(
          fmt::format("{}: unknown key {}", at_line(file, key.line), shortened(key.name)));
    }
    const auto [before, is_new] = lines.emplace(first_name(app, key.name), key.line);
    if (!is_new) {
      throw UsageError(fmt::format("{}, lines {} and {}: both set {}; leave one out", file.path,
                                   before->second, key.line, before->first));
    }
  }
  for (const ConfigName& key : keys) {
    if (key.name == "config") {
      throw UsageError(
          fmt::format("{}, line {}: a configuration file cannot name another; leave config out",
                      file.path, key.line));
    }
  }
}

}  // namespace

ConfigFile take_config_file(std::vector<std::string>& words) {
  constexpr std::string_view option = "--config";
  ConfigFile file;
  for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    std::string& word = words[i];
    const bool is_next = word == option && i + 1 < words.size() && !words[i + 1].starts_with('-');
    const bool is_within = word.starts_with(option) && word.find('=') == option.size();
    if (!is_next && !is_within) continue;
    const std::string path = is_next ? words[i + 1] : word.substr(option.size() + 1);
    if (path.empty()) continue;
    if (!file.path.empty()) throw UsageError("--config: is given twice; give one file");
    file.path = path;
    (is_next ? words[i + 1] : word) = is_next ? "/dev/null" : "--config=/dev/null";
  }
  return file;
}

std::vector<CLI::ConfigItem> FlatConfig::from_config(std::istream& /*input*/) const {
  try {
    file_.text = read_config_text(file_.path);
  } catch (const UsageError& error) {
    throw CLI::FileError(error.what());
  }
  const std::string command = name_of(chosen_command(app_));
  const std::string text = without_comments(file_);
  const ConfigNames names = names_in(text, command);
  refuse_tables(app_, file_, names.tables);
  refuse_keys(app_, file_, names.keys);
  std::istringstream stream(text);
  std::vector<CLI::ConfigItem> entries = CLI::ConfigBase::from_config(stream);
  if (command.empty()) return entries;
  const std::vector<std::string> own{command};
  const auto is_common = [&](const CLI::ConfigItem& item) {
    return app_.get_option_no_throw("--" + item.name) != nullptr;
  };
  // Those in the tables of other commands are for these.
  for (const CLI::App* other : app_.get_subcommands([](const CLI::App*) { return true; })) {
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

std::string config_place(const CLI::App& app, const ConfigFile& file, const std::string& option) {
  const int line = option.starts_with("--") ? line_of(app, file, option.substr(2)) : 0;
  return line == 0 ? "" : at_line(file, line);
}

std::string config_error_text(const CLI::App& app, const ConfigFile& file,
                              const CLI::ConfigError& error) {
  const std::string message = error.what();
  constexpr std::string_view cannot_parse = "INI was not able to parse ";
  if (!message.starts_with(cannot_parse)) return file.path + ": " + message;
  const CLI::App* command = chosen_command(app);
  const std::string name = short_name(message.substr(cannot_parse.size()), name_of(command));
  const std::string table = name.substr(0, std::min(name.size(), name.rfind('.')));
  for (const CLI::App* other : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (other->get_name() == table) command = other;
  }
  std::vector<std::string> known;
  for (const std::string& option : option_names(app, command)) known.push_back(option.substr(2));
  return fmt::format("{}: unknown key {}{}", at_line(file, line_of(app, file, name)),
                     shortened(name), did_you_mean(shortened(last_part(name)), known));
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
