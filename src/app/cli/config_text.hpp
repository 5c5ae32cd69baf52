// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace ringweave::detail::inline app {

/// Returns the text of a configuration file: of a regular file, or of a pipe such as that of
/// <(command), which is read once.
/// Error  UsageError when it cannot be read, is of another kind or larger than 256 KiB, and when
///        nothing comes from a pipe: for 2 s while none writes to it, else for 30 s.
std::string read_config_text(const std::string& path);

}  // namespace ringweave::detail::inline app
