// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <sstream>

#include "app/cli/command_options.hpp"
#include "app/cli/help.hpp"
#include "app/cli/manual.hpp"
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

/// Lets "lmax = 512" in a file set the option of the current subcommand, without a [section].
class FlatConfig : public CLI::ConfigBase {
 public:
  explicit FlatConfig(const CLI::App* app) : app_(app) {}
  std::vector<CLI::ConfigItem> from_config(std::istream& input) const override {
    std::vector<CLI::ConfigItem> entries = CLI::ConfigBase::from_config(input);
    const auto chosen = app_->get_subcommands();
    if (chosen.empty()) return entries;
    for (CLI::ConfigItem& item : entries) {
      if (item.name == "config")
        throw CLI::ConfigError("config: a configuration file cannot name another");
      const bool common = app_->get_option_no_throw("--" + item.name) != nullptr;
      if (item.parents.empty() && !common) item.parents = {chosen.front()->get_name()};
    }
    return entries;
  }

 private:
  const CLI::App* app_;
};

/// Declares one subcommand; `Options` lives as long as the returned function.
template <class Options>
void add_command(CLI::App& app, ParsedCommand& parsed, const std::string& name,
                 void (*declare)(CLI::App&, Options&), int (*command)(Run&, const Options&)) {
  auto options = std::make_shared<Options>();
  CLI::App* sub = app.add_subcommand(name, std::string(manual_page(name).brief));
  sub->fallthrough();
  declare(*sub, *options);
  sub->final_callback([&parsed, options, command] {
    if constexpr (requires { options->maps.resume; }) parsed.resumes = options->maps.resume;
    parsed.execute = [options, command](Run& run) { return command(run, *options); };
  });
}

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

}  // namespace

ParsedCommand parse_command_line(int argc, const char* const* argv) {
  ParsedCommand parsed;
  CLI::App app(overview, "ringweave");
  app.require_subcommand(1);
  app.set_help_flag("-h,--help", "Print this help and stop.")->group(common_group);
  app.set_version_flag("--version", version_text, "Print versions of all parts and stop.")
      ->group(common_group);
  app.config_formatter(std::make_shared<FlatConfig>(&app));
  app.set_config("--config", "",
                 "Options from a TOML file, e.g. `lmax = 512`; the command line overrules it, "
                 "unknown keys are errors. Default: none.")
      ->type_name("FILE")
      ->group(common_group);
  app.allow_config_extras(CLI::config_extras_mode::error);
  declare_common(app, parsed.common);
  add_command<SynthesizeOptions>(app, parsed, "synthesize", declare_synthesize, synthesize);
  add_command<AnalyzeOptions>(app, parsed, "analyze", declare_analyze, analyze);
  add_command<SmoothOptions>(app, parsed, "smooth", declare_smooth, smooth);
  add_command<ConvertOptions>(app, parsed, "convert", declare_convert, convert);
  add_command<CompareOptions>(app, parsed, "compare", declare_compare, compare);
  add_command<PlotOptions>(app, parsed, "plot", declare_plot, plot);
  add_command<CalibrateOptions>(app, parsed, "calibrate", declare_calibrate, calibrate);
  add_command<ModelOptions>(app, parsed, "model", declare_model, model);
  add_command<SplitOptions>(app, parsed, "split", declare_split, split);
  add_command<JobsOptions>(
      app, parsed, "jobs",
      [](CLI::App& command, JobsOptions& options) { declare_jobs(command, options, job_names()); },
      jobs);
  add_command<InfoOptions>(app, parsed, "info", declare_info, info);

  parsed.command_line = fmt::format("{}", fmt::join(argv, argv + argc, " "));
  try {
    app.parse(argc, argv);
    parsed.used_configuration = used_options(app);
  } catch (const CLI::CallForHelp&) {
    const auto chosen = app.get_subcommands();
    parsed.text = chosen.empty() ? program_help(app) : command_help(app, *chosen.front());
  } catch (const CLI::CallForVersion&) {
    parsed.text = version_text();
  } catch (const CLI::Error& error) {
    if (app.get_subcommands().empty() && !app.remaining().empty()) {
      throw UsageError(app.remaining().front() +
                       ": no command of this name; `ringweave --help` lists them");
    }
    throw UsageError(std::string(error.what()) +
                     "\nRun `ringweave --help` or `ringweave COMMAND --help`.");
  }
  return parsed;
}

}  // namespace ringweave::detail::inline app
