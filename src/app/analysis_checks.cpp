// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/analysis_checks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ringweave/error.hpp"

namespace ringweave::detail::inline app {
namespace {

/// "nside 8 holds degrees up to 23 (3 nside - 1)".
std::string held_degrees(const RingGrid& grid) {
  return fmt::format("the grid {} holds degrees up to {}{}", grid.name(), grid.default_lmax(),
                     grid.nside() > 0 ? " (3 nside - 1)" : "");
}

}  // namespace

bool is_exact(const RingGrid& grid, int lmax) {
  const bool has_quadrature = grid.kind() == GridKind::gauss_legendre ||
                              grid.kind() == GridKind::clenshaw_curtis ||
                              grid.kind() == GridKind::fejer;
  return has_quadrature && lmax <= grid.default_lmax();
}

void warn_beyond_grid(Run& run, const std::string& path, const RingGrid& grid, int lmax) {
  if (lmax <= grid.default_lmax()) return;
  run.warn(fmt::format("{}: lmax = {}, but {}; those beyond are not to be trusted", path, lmax,
                       held_degrees(grid)));
}

void require_converging(const std::string& path, const RingGrid& grid, int lmax,
                        const std::vector<double>& residuals) {
  // Below this, rounding in single precision may let residuals grow.
  constexpr double rounding = 1e-5;
  // Where they converge, the residuals fall in the norm of the quadrature weights, and may grow a
  // little in this one. Beyond the grid's degrees any growth goes on.
  const double growth = lmax > grid.default_lmax() ? 1 + 1e-4 : 1 + 1e-2;
  double before = 1;  // of no a_lm at all
  for (std::size_t pass = 0; pass < residuals.size(); ++pass) {
    const double after = residuals[pass];
    if (after <= std::max(rounding, growth * before)) {
      before = after;
      continue;
    }
    throw DataError(
        path, fmt::format("the analysis to lmax = {} diverges: its relative residual grows from "
                          "{:.3g} to {:.3g} in pass {}; {}, so give --lmax {} or less",
                          lmax, before, after, pass, held_degrees(grid),
                          std::min(lmax - 1, grid.default_lmax())));
  }
}

}  // namespace ringweave::detail::inline app
