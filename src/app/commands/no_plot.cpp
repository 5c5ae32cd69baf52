// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/commands.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline app {

int plot(Run&, const PlotOptions&) {
  throw UsageError(
      "plot: this build cannot draw, because cairo was not found when it was configured; build it "
      "again with cairo in reach of pkg-config");
}

}  // namespace ringweave::detail::inline app
