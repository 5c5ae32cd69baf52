// SPDX-License-Identifier: GPL-3.0-or-later
#include "transform/significant_degrees.hpp"

#include <algorithm>
#include <iterator>

#include "base/checked_cast.hpp"

namespace ringweave::detail::inline transform {

void SignificantDegrees::Side::add(std::int64_t ring, double sine) {
  rings.push_back(ring);
  sines.push_back(sine);
  inverse_sums.push_back(inverse_sums.back() + (sine > 0 ? 1 / sine : 0.0));
}

SignificantDegrees::SignificantDegrees(const RingGrid& grid, const ModeLimits& limits)
    : limits_(limits), margin_(std::max(100.0, 0.01 * limits.lmax())) {
  for (const RingPair& pair : grid.pairs()) {
    if (pair.north != RingPair::none) {
      north_.add(pair.north, pair.sin_theta);
    } else {
      south_alone_.add(-pair.south, pair.sin_theta);
    }
  }
}

double SignificantDegrees::of(int m) const {
  const RingRange kept = limits_.kept(m);
  return of_side(north_, kept, m) + of_side(south_alone_, {1 - kept.end, 1 - kept.begin}, m);
}

double SignificantDegrees::of_side(const Side& side, RingRange kept, int m) const {
  const auto place_of = [&](std::int64_t ring) {
    const auto found = std::lower_bound(side.rings.begin(), side.rings.end(), ring);
    return std::distance(side.rings.begin(), found);
  };
  const auto begin = place_of(kept.begin);
  const auto end = place_of(kept.end);
  const double above = m - margin_;
  const double all = limits_.lmax() + 1;
  // The first pair from which a sine is at least this.
  const auto pair_from = [&](double sine) {
    const auto found = std::lower_bound(side.sines.begin() + begin, side.sines.begin() + end, sine);
    return std::distance(side.sines.begin(), found);
  };
  const auto some = above > 0 ? pair_from(above / all) : begin;
  const auto whole = above > 0 ? pair_from(above / m) : begin;
  const double inverse_sum = side.inverse_sums[to_size(whole)] - side.inverse_sums[to_size(some)];
  return static_cast<double>(end - whole) * (all - m) + static_cast<double>(whole - some) * all -
         std::max(0.0, above) * inverse_sum;
}

}  // namespace ringweave::detail::inline transform
