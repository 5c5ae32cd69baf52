// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include "app/cli/options.hpp"

namespace CLI {
class App;
}

namespace ringweave::detail::inline app {

/// Options of `smooth`, with that of a split which is searched for already.
struct SmoothCommandOptions : SmoothOptions {
  std::string split;  ///< a file of `ringweave split --json`; empty: search
};

/// Declares the options of `smooth`.
void declare_smooth_command(CLI::App& command, SmoothCommandOptions& options);

}  // namespace ringweave::detail::inline app
