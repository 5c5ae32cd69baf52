// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/options.hpp"

namespace ringweave::detail::inline app {

/// Throws a UsageError where options of `lens` contradict each other, or one that is needed is
/// missing.
void check_lens_options(const LensOptions& options);

}  // namespace ringweave::detail::inline app
