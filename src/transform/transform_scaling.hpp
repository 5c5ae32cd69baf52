// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "transform/transform_estimate.hpp"

namespace ringweave {

/// The messages of one Alltoallv, as far as the rank sends them that sends most.
struct MessageSizes {
  std::int64_t count = 0;  ///< to others, those with modes
  std::int64_t largest_bytes = 0;
  double mean_bytes = 0;
};

/// How one transform shares out over a number of ranks, from plans alone.
struct TransformShares {
  /// Every number is that of the rank that has most of it; n_threads is 1.
  TransformWork largest;
  /// Bytes of maps, a_lm and ring modes, of the rank that has most.
  std::int64_t largest_bytes = 0;
  double mean_bytes = 0;
  double mean_flops = 0;
  int n_ranks_with_orders = 0;
  int n_ranks_with_rings = 0;
  MessageSizes messages;
  /// What the rank sends that sends most, in double precision: if every ring kept every order, and
  /// if nothing were folded.
  std::int64_t dense_sent_bytes = 0;
  std::int64_t ragged_sent_bytes = 0;
  /// All modes of all rings, as Szydlarski et al. (2012) exchange them; of one component.
  DenseExchange dense;

  /// Most over mean.
  double work_imbalance() const {
    const double most = largest.scalar_flops + largest.spin_flops;
    return mean_flops > 0 ? most / mean_flops : 1;
  }
  double memory_imbalance() const {
    return mean_bytes > 0 ? static_cast<double>(largest_bytes) / mean_bytes : 1;
  }
};

/// Answers for any number of ranks, also those no machine has. Not collective.
class TransformScaling {
 public:
  /// O(mmax x ring pairs).
  explicit TransformScaling(const TransformSpec& asked);
  /// O(mmax + n_rings + n_ranks).
  TransformShares shares(int n_ranks) const;

  const TransformSpec& spec() const { return spec_; }

 private:
  struct Deal;
  void add_sizes(const Deal& deal, TransformShares& shares) const;
  MessageSizes messages_of(const Deal& deal, int rank) const;

  TransformSpec spec_;
  ModeLimits limits_;
  ModeLimits scalar_limits_;  ///< by which orders and rings are dealt
  FoldRule fold_;
  double legendre_work_;
  std::vector<double> degrees_;  ///< [m] significant_degrees
};

}  // namespace ringweave
