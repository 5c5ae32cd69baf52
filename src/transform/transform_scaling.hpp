// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "transform/transform_estimate.hpp"

namespace ringweave {

/// How one transform shares out over a number of ranks, from plans alone.
struct TransformShares {
  /// Every number is that of the rank that has most of it; n_threads is 1.
  TransformWork largest;
  /// Bytes of maps, a_lm and ring modes, of the rank that has most.
  std::int64_t largest_bytes = 0;
  double mean_flops = 0;
  /// All modes of all rings, as Szydlarski et al. (2012) exchange them; of one component.
  DenseExchange dense;
};

/// Answers for any number of ranks, also those no machine has. Not collective.
class TransformScaling {
 public:
  /// O(mmax x ring pairs).
  explicit TransformScaling(const TransformSpec& spec);
  /// O(mmax + n_rings + n_ranks).
  TransformShares shares(int n_ranks) const;

 private:
  TransformSpec spec_;
  ModeLimits limits_;
  FoldRule fold_;
  double legendre_work_;
  std::vector<double> degrees_;  ///< [m] significant_degrees
};

}  // namespace ringweave
