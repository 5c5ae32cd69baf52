// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>

#include "convolve/split/split_costs.hpp"

namespace ringweave::detail::inline convolve {

/// Which ranks do which part of a split kernel.
struct SplitPlacement {
  /// The last so many ranks do the harmonic part while the others convolve on rings; 0: all ranks
  /// do both.
  int n_harmonic = 0;

  bool is_side_by_side() const { return n_harmonic > 0; }
  int ranks_of_rings(int n_ranks) const { return n_ranks - n_harmonic; }
  int ranks_of_harmonic(int n_ranks) const { return is_side_by_side() ? n_harmonic : n_ranks; }
  bool does_rings(int rank, int n_ranks) const { return rank < ranks_of_rings(n_ranks); }
  bool does_harmonic(int rank, int n_ranks) const {
    return !is_side_by_side() || !does_rings(rank, n_ranks);
  }
};

/// A placement and its predicted times.
struct PlacedSplit {
  SplitPlacement placement;
  Estimate harmonic{};
  Estimate rings{};
  Estimate sending{};  ///< the map to the ranks of the harmonic part, and theirs back
  Estimate total{};
};

/// Both parts on all ranks, or side by side on two groups: the sum of the times (at once: the
/// slower part's), or the slower part's and what is sent.
/// l_cut       -1: no harmonic part, and nothing side by side
/// n_harmonic  takes this placement; none: the fastest. The more ranks do harmonics, the faster
///             these are and the slower the rings: the best two sizes are where the parts take
///             equally long, so O(log n_ranks) sizes are looked at.
PlacedSplit place_split(const SplitCosts& costs, int l_cut, double theta_cut, int n_ranks,
                        std::optional<int> n_harmonic = {});

}  // namespace ringweave::detail::inline convolve
