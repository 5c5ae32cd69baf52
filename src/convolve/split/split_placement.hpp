// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>

#include "convolve/split/split_costs.hpp"
#include "ringweave/convolution.hpp"

namespace ringweave::detail::inline convolve {

/// The ranks of each part of a split kernel.
struct SplitPlacement {
  int n_harmonic = 0;  ///< see SplitCandidate

  bool is_side_by_side() const { return n_harmonic > 0; }
  int ranks_of_rings(int n_ranks) const { return n_ranks - n_harmonic; }
  int ranks_of_harmonic(int n_ranks) const { return is_side_by_side() ? n_harmonic : n_ranks; }
  bool does_rings(int rank, int n_ranks) const { return rank < ranks_of_rings(n_ranks); }
  bool does_harmonic(int rank, int n_ranks) const {
    return !is_side_by_side() || !does_rings(rank, n_ranks);
  }
};

/// Adds the predicted times to a candidate of given support and l_cut, done on n_ranks ranks: both
/// parts on all of them, or side by side on two groups. Nothing is side by side where l_cut = -1.
/// n_harmonic  takes this placement; none: the fastest. The more ranks do harmonics, the faster
///             these are and the slower the rings: the best two sizes are where the parts take
///             equally long, so O(log n_ranks) sizes are looked at.
SplitCandidate place_split(const SplitCosts& costs, const SplitCandidate& split, int n_ranks,
                           std::optional<int> n_harmonic = {});

}  // namespace ringweave::detail::inline convolve
