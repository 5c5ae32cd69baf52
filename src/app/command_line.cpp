// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <sstream>

#include "app/cli/command_options.hpp"
#include "app/cli/config_file.hpp"
#include "app/cli/help.hpp"
#include "app/cli/manual.hpp"
#include "app/cli/suggestion.hpp"
#include "app/cli/version.hpp"
#include "app/commands/commands.hpp"
#include "app/jobs/slurm_job.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline app {
namespace {

constexpr const char* overview =
    "Ringweave: fields on the sphere, from a laptop to a cluster. Synthesizes, analyses, smooths, "
    "converts, compares and "
    "draws sky maps; the same command runs alone or under mpirun and srun.";

/// The commands of the program. Options are declared for commands that are named only: declaring
/// all takes several times as long as parsing one.
class Commands {
 public:
  Commands(CLI::App& app, ParsedCommand& parsed) : app_(app), parsed_(parsed) {}

  template <class Options>
  void add(const std::string& name, void (*declare)(CLI::App&, Options&),
           int (*command)(Run&, const Options&)) {
    auto options = std::make_shared<Options>();
    CLI::App* sub = app_.add_subcommand(name, std::string(manual_page(name).brief));
    sub->fallthrough();
    sub->final_callback([&parsed = parsed_, options, command] {
      if constexpr (requires { options->maps.resume; }) parsed.resumes = options->maps.resume;
      parsed.plans_other_runs = requires { options->ranks; }
      || requires { options->tasks_per_node; };
      parsed.execute = [options, command](Run& run) { return command(run, *options); };
    });
    undeclared_.emplace(name, [sub, options, declare] { declare(*sub, *options); });
  }

  /// Declares the options of commands that these words name; of all where a configuration file may
  /// name others.
  void declare_named(const std::vector<std::string>& words) {
    for (const std::string& word : words) {
      if (word.starts_with("--config")) return declare_all();
      if (const auto named = undeclared_.extract(word)) named.mapped()();
    }
  }
  void declare_all() {
    for (const auto& [name, declare] : undeclared_) declare();
    undeclared_.clear();
  }

 private:
  CLI::App& app_;
  ParsedCommand& parsed_;
  std::map<std::string, std::function<void()>> undeclared_;
};

/// Returns the given and default values of the chosen command in the format of --config.
std::string used_options(const CLI::App& app) {
  const std::string own = app.get_subcommands().front()->get_name() + '.';
  std::istringstream all(app.config_to_str(true, false));
  std::string used;
  for (std::string line; std::getline(all, line);) {
    if (line.ends_with("=\"\"")) continue;
    if (line.starts_with(own)) {
      used += line.substr(own.size()) + '\n';
    } else if (line.find('.') > line.find('=')) {
      used += line + '\n';
    }
  }
  return used;
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return names;
}

/// Returns the names of the commands that have an option.
std::vector<std::string> commands_with(const CLI::App& app, const std::string& option) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_option_no_throw(option) != nullptr) names.push_back(command->get_name());
  }
  return names;
}

/// Returns the error of words that begin with an option and name no command.
UsageError without_command(const CLI::App& app, const std::vector<std::string>& words) {
  const std::vector<std::string> commands = command_names(app);
  const std::string expected =
      fmt::format("a command comes first, as in `ringweave smooth --help`; the commands are {}",
                  fmt::join(commands, ", "));
  std::vector<std::string> known = option_names(app, nullptr);
  for (const std::string& command : commands) {
    for (std::string& name : option_names(app, app.get_subcommand(command)))
      known.push_back(std::move(name));
  }
  for (const std::string& word : words) {
    const std::string name = word.substr(0, word.find('='));
    if (!name.starts_with('-')) {
      const std::string meant = did_you_mean(name, commands);
      if (meant.empty()) continue;  // the value of an option
      return UsageError(fmt::format("{}: no command of this name{}", name, meant));
    }
    if (!name.starts_with("--") || app.get_option_no_throw(name) != nullptr) continue;
    const std::vector<std::string> owners = commands_with(app, name);
    if (!owners.empty()) {
      return UsageError(
          fmt::format("{} is an option of {}; {}", name, fmt::join(owners, ", "), expected));
    }
    const std::string meant = did_you_mean(name, known);
    return UsageError(fmt::format("{}: no option of this name{}{} {}", name, meant,
                                  meant.empty() ? ";" : "", expected));
  }
  return UsageError("no command is given; " + expected);
}

/// Returns an error of the parser about these words of the command line in words for the user.
UsageError explained(const CLI::App& app, const std::vector<std::string>& words,
                     const CLI::Error& error) {
  const CLI::App* chosen = chosen_command(app);
  if (chosen == nullptr && dynamic_cast<const CLI::RequiredError*>(&error) != nullptr)
    return without_command(app, words);
  const std::string help = chosen == nullptr
                               ? "\nRun `ringweave --help`."
                               : fmt::format("\nRun `ringweave {} --help`.", chosen->get_name());
  const std::vector<std::string> known = option_names(app, chosen);
  const bool is_extra = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  for (const std::string& word : words) {
    const std::string name = word.substr(0, word.find('='));
    if (!is_extra || !name.starts_with("--") ||
        std::find(known.begin(), known.end(), name) != known.end())
      continue;
    return UsageError(
        fmt::format("{}: no option of this name{}{}", name, did_you_mean(name, known), help));
  }
  // "--lmax: ..." of an option that only the configuration file sets is about the file.
  const std::string message = error.what();
  const std::string option = message.substr(0, message.find_first_of(": "));
  const bool is_given = std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return word.substr(0, word.find('=')) == option;
  });
  const std::string place = is_given ? "" : config_place(app, option);
  return UsageError(place + (place.empty() ? "" : ": ") + message + help);
}

}  // namespace

ParsedCommand parse_command_line(int argc, const char* const* argv) {
  ParsedCommand parsed;
  CLI::App app(overview, "ringweave");
  app.require_subcommand(1);
  app.set_help_flag("-h,--help", "Print this help and stop.")->group(common_group);
  app.set_version_flag("-V,--version", version_text, "Print versions of all parts and stop.")
      ->group(common_group);
  app.config_formatter(std::make_shared<FlatConfig>(&app));
  app.set_config("--config", "",
                 "Options from a TOML file, e.g. `lmax = 512`; the command line overrules it, "
                 "unknown keys are errors. Default: none.")
      ->type_name("FILE")
      ->group(common_group);
  app.allow_config_extras(CLI::config_extras_mode::error);
  declare_common(app, parsed.common);
  Commands commands(app, parsed);
  commands.add<SynthesizeOptions>("synthesize", declare_synthesize, synthesize);
  commands.add<AnalyzeOptions>("analyze", declare_analyze, analyze);
  commands.add<SmoothOptions>("smooth", declare_smooth, smooth);
  commands.add<AlmOptions>("alm", declare_alm, alm);
  commands.add<InterpolateOptions>("interpolate", declare_interpolate, interpolate);
  commands.add<LensOptions>("lens", declare_lens, lens);
  commands.add<GyroaverageOptions>("gyroaverage", declare_gyroaverage, gyroaverage);
  commands.add<ConvertOptions>("convert", declare_convert, convert);
  commands.add<CompareOptions>("compare", declare_compare, compare);
  commands.add<PlotOptions>("plot", declare_plot, plot);
  commands.add<CalibrateOptions>("calibrate", declare_calibrate, calibrate);
  commands.add<ModelOptions>("model", declare_model, model);
  commands.add<SplitOptions>("split", declare_split, split);
  commands.add<JobsOptions>(
      "jobs",
      [](CLI::App& command, JobsOptions& options) { declare_jobs(command, options, job_names()); },
      jobs);
  commands.add<InfoOptions>("info", declare_info, info);

  parsed.command_line = fmt::format("{}", fmt::join(argv, argv + argc, " "));
  if (argc < 2) {
    parsed.text = program_help(app);
    return parsed;
  }
  std::vector<std::string> words(argv + 1, argv + argc);
  // `help smooth` is `smooth --help`.
  if (words.front() == "help") {
    words.erase(words.begin());
    words.emplace_back("--help");
  }
  const std::vector<std::string> names = command_names(app);
  const std::string& first = words.front();
  if (!first.starts_with('-') && std::find(names.begin(), names.end(), first) == names.end()) {
    const std::string meant = did_you_mean(first, names);
    throw UsageError(fmt::format("{}: no command of this name{}{} `ringweave --help` lists them",
                                 first, meant, meant.empty() ? ";" : ""));
  }
  commands.declare_named(words);
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
    parsed.used_configuration = used_options(app);
  } catch (const CLI::CallForHelp&) {
    const auto chosen = app.get_subcommands();
    parsed.text = chosen.empty() ? program_help(app) : command_help(app, *chosen.front());
  } catch (const CLI::CallForVersion&) {
    parsed.text = version_text();
  } catch (const CLI::ConfigError& error) {
    throw UsageError(config_error_text(app, error));
  } catch (const CLI::FileError&) {
    throw UsageError(fmt::format("--config {}: cannot be read; is it there?", config_file(app)));
  } catch (const CLI::Error& error) {
    commands.declare_all();
    throw explained(app, words, error);
  }
  return parsed;
}

}  // namespace ringweave::detail::inline app
