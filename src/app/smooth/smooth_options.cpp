// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/smooth/smooth_options.hpp"

#include "app/cli/command_options.hpp"
#include "app/cli/option_group.hpp"

namespace ringweave::detail::inline app {

void declare_smooth_command(CLI::App& command, SmoothCommandOptions& options) {
  declare_smooth(command, options);
  OptionGroup(command, own_group)
      .value("--split", options.split, "FILE",
             "--method split: take the support, --error and alpha of the split in this file of "
             "`ringweave split --json`, instead of searching. Default: the split that is predicted "
             "to be fastest on one core, the same on any ranks and threads.");
}

}  // namespace ringweave::detail::inline app
