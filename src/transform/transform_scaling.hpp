// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "ringweave/transform.hpp"
#include "transform/transform_estimate.hpp"

namespace ringweave::detail::inline transform {

/// Message sizes of one Alltoallv, for the rank that sends most.
struct MessageSizes {
  std::int64_t count = 0;  ///< non-empty messages to others
  std::int64_t largest_bytes = 0;
  double mean_bytes = 0;
};

/// The distribution of one transform over a number of ranks, computed from plans alone.
struct TransformShares {
  /// Each number is the maximum over ranks; n_threads is 1.
  TransformWork largest;
  /// Bytes of maps, a_lm and ring modes on the rank with most.
  std::int64_t largest_bytes = 0;
  double mean_bytes = 0;
  double mean_flops = 0;
  int n_ranks_with_orders = 0;
  int n_ranks_with_rings = 0;
  MessageSizes messages;
  /// Bytes sent by the rank that sends most, in double precision: if every ring kept every order,
  /// and if nothing were folded.
  std::int64_t dense_sent_bytes = 0;
  std::int64_t ragged_sent_bytes = 0;
  /// All modes of all rings, exchanged as in Szydlarski et al. (2012); for one component.
  DenseExchange dense;

  /// Maximum over mean.
  double work_imbalance() const {
    const double most = largest.scalar_flops + largest.spin_flops;
    return mean_flops > 0 ? most / mean_flops : 1;
  }
  double memory_imbalance() const {
    return mean_bytes > 0 ? static_cast<double>(largest_bytes) / mean_bytes : 1;
  }
};

/// Computes shares for any number of ranks, even for machines that do not exist. Not collective.
class TransformScaling {
 public:
  /// O(n_rings + mmax log(n_rings)).
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
  ModeLimits scalar_limits_;  ///< distribute orders and rings
  FoldRule fold_;
  double legendre_work_;
  std::vector<double> degrees_;  ///< [m] SignificantDegrees
};

}  // namespace ringweave::detail::inline transform
