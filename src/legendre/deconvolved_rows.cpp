// SPDX-License-Identifier: GPL-3.0-or-later
#include "legendre/deconvolved_rows.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "base/checked_cast.hpp"
#include "legendre/shared/resampled_modes.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline legendre {

void DeconvolvedRows::check(int lmax, int mmax) const {
  if (n_rows % 4 != 0 || n_rows <= lmax || !has_theta_fft(n_rows)) {
    throw UsageError(
        fmt::format("fine rows: {} rows for lmax {}; expected a multiple of 4 above lmax, with "
                    "prime factors 2, 3, 5 and 7 only",
                    n_rows, lmax));
  }
  if (ssize64(theta_factors) != std::int64_t{lmax} + 1 ||
      ssize64(order_factors) != std::int64_t{mmax} + 1) {
    throw UsageError(
        fmt::format("fine rows: {} factors in theta and {} of orders; expected one for every "
                    "degree 0..{} and one for every order 0..{}",
                    theta_factors.size(), order_factors.size(), lmax, mmax));
  }
}

std::vector<std::int64_t> DeconvolvedRows::rows_of(const RingGrid& grid) const {
  std::vector<std::int64_t> rows;
  rows.reserve(to_size(grid.n_rings()));
  const double distance = std::numbers::pi / static_cast<double>(n_rows);
  for (const Ring& ring : grid.rings()) {
    const std::int64_t row = std::llround(ring.theta / distance - 0.5);
    const double theta = (static_cast<double>(row) + 0.5) * distance;
    if (row < 0 || row >= n_rows || std::abs(ring.theta - theta) > 1e-14) {
      throw UsageError(
          fmt::format("fine rows: ring {} of {} is at theta = {}; expected rings of fejer:{}",
                      rows.size(), grid.name(), ring.theta, n_rows));
    }
    rows.push_back(row);
  }
  return rows;
}

}  // namespace ringweave::detail::inline legendre
