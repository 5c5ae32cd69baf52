// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "app/cli/options.hpp"

// Building blocks of the declarations of the commands' options.

namespace ringweave::detail::inline app {

inline constexpr const char* transform_group = "Transform";
inline constexpr const char* analysis_group = "Analysis";
inline constexpr const char* maps_group = "Several maps";
inline constexpr const char* own_group = "Options";

/// Numbers of these ranges, with messages that say what was expected.
CLI::Validator positive_number();
CLI::Validator non_negative_number();
CLI::Validator number_within(double low, double high);
/// An nside of HEALPix.
CLI::Validator nside_number();
/// A degree or order: ten times those of the largest grids at most.
CLI::Validator degree_number();
/// A number of iterations that may end.
CLI::Validator iteration_number();

/// Adds the options of one group of a command, each with the type that --help shows.
class OptionGroup {
 public:
  OptionGroup(CLI::App& app, const char* name) : app_(app), name_(name) {}

  template <class T>
  CLI::Option* value(const std::string& name, T& target, const char* type,
                     const std::string& text) const {
    return app_.add_option(name, target, text)->type_name(type)->group(name_);
  }
  template <class T>
  CLI::Option* argument(const std::string& name, T& target, const std::string& text) const {
    return app_.add_option(name, target, text)->required();
  }
  /// Adds a choice between a few words; a build without CUDA says so.
  CLI::Option* choice(const std::string& name, std::string& target,
                      const std::vector<std::string>& words, std::string text) const;
  void flag(const std::string& name, bool& target, const std::string& text) const {
    app_.add_flag(name, target, text)->group(name_);
  }

 private:
  CLI::App& app_;
  const char* name_;
};

/// Parts of --help that differ between commands: defaults.
struct TransformTexts {
  const char* lmax;
  const char* mmax;
  const char* precision;
};

/// Parts of --help that differ between commands.
struct AnalysisTexts {
  const char* default_iter;
  const char* unseen;
  const char* default_remove;
};

// Options that several commands have.

/// `what` names the spectra that it speaks of.
void declare_cl_kind(CLI::App& command, std::string& target, const std::string& what);

void declare_variable(CLI::App& command, std::string& target);

void declare_grid(CLI::App& command, TransformOptions& options);

void declare_backend(CLI::App& command, TransformOptions& options);
/// `backend`: the option in its place.
void declare_stage(CLI::App& command, TransformOptions& options, CLI::Option* backend);

void declare_transform(CLI::App& command, TransformOptions& options,
                       const std::vector<std::string>& fields, const TransformTexts& defaults);

void declare_analysis(CLI::App& command, AnalysisOptions& options,
                      const std::vector<std::string>& unseen_policies, const AnalysisTexts& texts);

/// Returns the group, for further options of one command.
OptionGroup declare_maps(CLI::App& command, MapsOptions& options);

}  // namespace ringweave::detail::inline app
