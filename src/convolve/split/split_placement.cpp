// SPDX-License-Identifier: GPL-3.0-or-later
#include "convolve/split/split_placement.hpp"

namespace ringweave::detail::inline convolve {
namespace {

SplitCandidate place(const SplitCosts& costs, SplitCandidate split, int n_ranks, int n_harmonic) {
  const SplitPlacement placement{n_harmonic};
  const int n_rings = placement.ranks_of_rings(n_ranks);
  split.n_harmonic = n_harmonic;
  split.rings = costs.rings(split.theta_cut, n_rings);
  split.harmonic = split.sending = {};
  split.total = split.rings;
  if (split.l_cut < 0) return split;
  split.harmonic = costs.harmonic(split.l_cut, placement.ranks_of_harmonic(n_ranks));
  if (!placement.is_side_by_side()) {
    split.total =
        costs.at_once ? longer(split.rings, split.harmonic) : split.rings + split.harmonic;
    return split;
  }
  split.sending = costs.sending(n_rings, n_harmonic);
  split.total = longer(split.rings, split.harmonic) + split.sending;
  return split;
}

}  // namespace

SplitCandidate place_split(const SplitCosts& costs, const SplitCandidate& split, int n_ranks,
                           std::optional<int> n_harmonic) {
  const auto with = [&](int n) { return place(costs, split, n_ranks, n); };
  if (split.l_cut < 0) return with(0);
  if (n_harmonic) return with(*n_harmonic);
  SplitCandidate best = with(0);
  if (n_ranks == 1) return best;
  // Finds the fewest ranks whose harmonics are no slower than the rings of the others, if any.
  int low = 1;
  int high = n_ranks - 1;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    const SplitCandidate placed = with(middle);
    if (placed.harmonic.seconds > placed.rings.seconds) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  for (const int n : {low - 1, low}) {
    if (n < 1) continue;
    const SplitCandidate placed = with(n);
    if (placed.total.seconds < best.total.seconds) best = placed;
  }
  return best;
}

}  // namespace ringweave::detail::inline convolve
