// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sphere/mode_limits.hpp"

namespace ringweave::detail::inline distribute {

/// The owner of every order m. An order is grouped with its aliases (FoldRule), otherwise with its
/// mirror mmax - m. Groups are dealt, heaviest first, to the rank with the least pruned work so
/// far. Mirrors are separated where that balances few orders on many ranks better; aliases never
/// are. Plain data, the same on every rank; any number of ranks, even more than orders.
class OrderDistribution {
 public:
  OrderDistribution(const ModeLimits& limits, const FoldRule& fold, int n_ranks);

  int n_ranks() const { return static_cast<int>(orders_begin_.size()) - 1; }
  int owner(int m) const { return owner_[static_cast<std::size_t>(m)]; }
  /// Orders of a rank, ascending.
  std::span<const int> orders(int rank) const;
  /// Pruned Legendre work of an order: the rings that keep it times its degrees.
  static double work(const ModeLimits& limits, int m);

 private:
  std::vector<int> owner_;
  std::vector<int> orders_;  ///< grouped by rank
  std::vector<std::int64_t> orders_begin_;
};

}  // namespace ringweave::detail::inline distribute
