// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/commands.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline app {

int plot(Run&, const PlotOptions&) {
  throw UsageError(
      "plot: this build cannot draw, because it was configured without cairo; build it again with "
      "cairo's development files in reach of pkg-config (Debian: libcairo2-dev), or with "
      "-DRINGWEAVE_PLOT=ON to see why they are not found");
}

}  // namespace ringweave::detail::inline app
