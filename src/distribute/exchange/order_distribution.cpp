// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/exchange/order_distribution.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

#include "base/checked_cast.hpp"

namespace ringweave::detail::inline distribute {
namespace {

/// Orders that must share a rank: members[i] of group g are g's, in one array.
struct Groups {
  std::vector<int> members;
  std::vector<std::int64_t> begin{0};

  void close() { begin.push_back(ssize64(members)); }
  std::int64_t count() const { return ssize64(begin) - 1; }
  std::span<const int> of(std::int64_t g) const {
    return std::span(members).subspan(to_size(begin[to_size(g)]),
                                      to_size(begin[to_size(g + 1)] - begin[to_size(g)]));
  }
};

Groups alias_classes(const FoldRule& fold, int mmax) {
  Groups groups;
  for (std::int64_t m0 = 0; 2 * m0 <= fold.period && m0 <= mmax; ++m0) {
    for (std::int64_t turn = 0; turn * fold.period - m0 <= mmax; ++turn) {
      const std::int64_t below = turn * fold.period - m0;
      const std::int64_t above = turn * fold.period + m0;
      if (below >= 0 && below != above && below + fold.period != above) {
        groups.members.push_back(static_cast<int>(below));
      }
      if (above <= mmax) groups.members.push_back(static_cast<int>(above));
    }
    groups.close();
  }
  return groups;
}

Groups mirror_pairs(int mmax) {
  Groups groups;
  for (int m = 0; 2 * m <= mmax; ++m) {
    groups.members.push_back(m);
    if (mmax - m != m) groups.members.push_back(mmax - m);
    groups.close();
  }
  return groups;
}

Groups single_orders(int mmax) {
  Groups groups;
  for (int m = 0; m <= mmax; ++m) {
    groups.members.push_back(m);
    groups.close();
  }
  return groups;
}

struct Deal {
  std::vector<int> owner;  ///< [m]
  double largest_load = 0;
};

/// Deals the heaviest group first, each to the rank with the least work so far; ties go to the
/// lower order and the lower rank.
Deal deal(const Groups& groups, const std::vector<double>& work, int n_ranks) {
  std::vector<double> weight(to_size(groups.count()), 0.0);
  for (std::int64_t g = 0; g < groups.count(); ++g) {
    for (const int m : groups.of(g)) weight[to_size(g)] += work[to_size(m)];
  }
  std::vector<std::int64_t> by_weight(weight.size());
  std::iota(by_weight.begin(), by_weight.end(), std::int64_t{0});
  std::stable_sort(by_weight.begin(), by_weight.end(), [&](std::int64_t a, std::int64_t b) {
    return weight[to_size(a)] > weight[to_size(b)];
  });

  using Load = std::pair<double, int>;
  std::priority_queue<Load, std::vector<Load>, std::greater<>> least;
  for (int rank = 0; rank < n_ranks; ++rank) least.emplace(0.0, rank);
  Deal result{std::vector<int>(work.size()), 0.0};
  for (const std::int64_t g : by_weight) {
    const auto [load, rank] = least.top();
    least.pop();
    for (const int m : groups.of(g)) result.owner[to_size(m)] = rank;
    result.largest_load = std::max(result.largest_load, load + weight[to_size(g)]);
    least.emplace(load + weight[to_size(g)], rank);
  }
  return result;
}

// Above this imbalance mirror pairs are given up, although they keep each rank's memory even.
constexpr double accepted_imbalance = 1.02;

}  // namespace

OrderDistribution::OrderDistribution(const ModeLimits& limits, const FoldRule& fold, int n_ranks) {
  const int mmax = limits.mmax();
  std::vector<double> works(to_size(std::int64_t{mmax} + 1));
  for (int m = 0; m <= mmax; ++m) works[to_size(m)] = work(limits, m);
  const double mean = std::accumulate(works.begin(), works.end(), 0.0) / n_ranks;

  Deal best = deal(fold.active() ? alias_classes(fold, mmax) : mirror_pairs(mmax), works, n_ranks);
  if (!fold.active() && best.largest_load > accepted_imbalance * mean) {
    Deal singles = deal(single_orders(mmax), works, n_ranks);
    if (singles.largest_load < best.largest_load) best = std::move(singles);
  }
  owner_ = std::move(best.owner);

  orders_begin_.assign(to_size(std::int64_t{n_ranks} + 1), 0);
  for (const int rank : owner_) ++orders_begin_[to_size(rank + 1)];
  std::partial_sum(orders_begin_.begin(), orders_begin_.end(), orders_begin_.begin());
  orders_.resize(owner_.size());
  std::vector<std::int64_t> next(orders_begin_.begin(), orders_begin_.end() - 1);
  for (int m = 0; m <= mmax; ++m) orders_[to_size(next[to_size(owner(m))]++)] = m;
}

std::span<const int> OrderDistribution::orders(int rank) const {
  const std::int64_t begin = orders_begin_[to_size(rank)];
  return std::span(orders_).subspan(to_size(begin),
                                    to_size(orders_begin_[to_size(rank + 1)] - begin));
}

double OrderDistribution::work(const ModeLimits& limits, int m) {
  return static_cast<double>(limits.kept(m).size()) * (limits.lmax() - m + 1);
}

}  // namespace ringweave::detail::inline distribute
