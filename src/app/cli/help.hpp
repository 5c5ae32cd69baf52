// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <CLI/App.hpp>
#include <string>

namespace ringweave::detail::inline app {

inline constexpr const char* common_group = "Common options";

/// Returns the text of `ringweave --help`.
std::string program_help(const CLI::App& app);

/// Returns the text of `ringweave COMMAND --help`: usage, description, every option with its type
/// and default, environment, exit status, examples. `app` holds the common options.
std::string command_help(const CLI::App& app, const CLI::App& command);

}  // namespace ringweave::detail::inline app
