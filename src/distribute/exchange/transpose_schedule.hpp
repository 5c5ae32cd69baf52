// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "distribute/exchange/exchange_volume.hpp"
#include "distribute/exchange/order_distribution.hpp"
#include "distribute/ring_distribution.hpp"
#include "ringweave/execution.hpp"
#include "sphere/mode_limits.hpp"

namespace ringweave::detail::inline distribute {

/// The modes that two ranks exchange, in the order both sides agree on: the orders of sequence(),
/// for each its kept rings band by band from north to south, without the rings on which the order
/// is folded away.
class TransposeSchedule {
 public:
  /// Up to two runs of rings, north to south; either may be empty.
  using Runs = std::array<RingRange, 2>;
  static std::int64_t count(const Runs& runs) { return runs[0].size() + runs[1].size(); }

  /// Keeps references to its arguments.
  TransposeSchedule(const ModeLimits& limits, const FoldRule& fold, const OrderDistribution& orders,
                    const RingDistribution& rings, Folding folding);

  int n_ranks() const { return orders_.n_ranks(); }
  int mmax() const { return limits_.mmax(); }
  /// Orders of a rank, ascending: the rows of its layout.
  std::span<const int> orders(int rank) const { return orders_.orders(rank); }
  /// The same orders in the order they are sent: every order that does not fold, ascending, each
  /// followed by those that fold into it. So a run that begins with an unfolded order can be sent
  /// alone.
  std::span<const int> sequence(int rank) const;

  const RingDistribution& rings() const { return rings_; }
  /// The rings of a band on which order m is exchanged.
  Runs runs(int m, const RingRange& band) const;
  std::int64_t modes(int m, int ring_owner) const {
    std::int64_t n = 0;
    for (const RingRange& band : rings_.bands(ring_owner)) n += count(runs(m, band));
    return n;
  }
  /// Number of modes of order m on all ranks together.
  std::int64_t modes(int m) const { return count(runs(m, {0, limits_.n_rings()})); }

  bool folded(int m) const { return folded_[static_cast<std::size_t>(m)]; }
  int alias(int m) const { return fold_.alias(m).m0; }
  RingRange fold_rings(int m) const { return intersection(fold_.rings, limits_.kept(m)); }

 private:
  const ModeLimits& limits_;
  const FoldRule& fold_;
  const OrderDistribution& orders_;
  const RingDistribution& rings_;
  std::vector<bool> folded_;
  std::vector<int> sequence_;  ///< grouped by rank
  std::vector<std::int64_t> sequence_begin_;
};

}  // namespace ringweave::detail::inline distribute
