// SPDX-License-Identifier: GPL-3.0-or-later
#include "convolve/split/split_placement.hpp"

namespace ringweave::detail::inline convolve {
namespace {

PlacedSplit place(const SplitCosts& costs, int l_cut, double theta_cut, int n_ranks,
                  int n_harmonic) {
  PlacedSplit placed;
  placed.placement.n_harmonic = n_harmonic;
  const int n_rings = placed.placement.ranks_of_rings(n_ranks);
  placed.rings = costs.rings(theta_cut, n_rings);
  placed.total = placed.rings;
  if (l_cut < 0) return placed;
  placed.harmonic = costs.harmonic(l_cut, placed.placement.ranks_of_harmonic(n_ranks));
  if (!placed.placement.is_side_by_side()) {
    placed.total =
        costs.at_once ? longer(placed.rings, placed.harmonic) : placed.rings + placed.harmonic;
    return placed;
  }
  placed.sending = costs.sending(n_rings, n_harmonic);
  placed.total = longer(placed.rings, placed.harmonic) + placed.sending;
  return placed;
}

}  // namespace

PlacedSplit place_split(const SplitCosts& costs, int l_cut, double theta_cut, int n_ranks,
                        std::optional<int> n_harmonic) {
  const auto with = [&](int n) { return place(costs, l_cut, theta_cut, n_ranks, n); };
  if (l_cut < 0) return with(0);
  if (n_harmonic) return with(*n_harmonic);
  PlacedSplit best = with(0);
  if (n_ranks == 1) return best;
  // Finds the fewest ranks whose harmonics are no slower than the rings of the others, if any.
  int low = 1;
  int high = n_ranks - 1;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    const PlacedSplit placed = with(middle);
    if (placed.harmonic.seconds > placed.rings.seconds) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  for (const int n : {low - 1, low}) {
    if (n < 1) continue;
    const PlacedSplit placed = with(n);
    if (placed.total.seconds < best.total.seconds) best = placed;
  }
  return best;
}

}  // namespace ringweave::detail::inline convolve
