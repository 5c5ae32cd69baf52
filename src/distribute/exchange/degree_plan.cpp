// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/exchange/degree_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/checked_cast.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline distribute {

OrderOwners::OrderOwners(int mmax, std::vector<int> orders, const std::vector<std::int64_t>& counts)
    : orders_(std::move(orders)),
      begin_(counts.size() + 1, 0),
      owner_(to_size(std::int64_t{mmax} + 1), -1),
      row_(to_size(std::int64_t{mmax} + 1), 0) {
  std::partial_sum(counts.begin(), counts.end(), begin_.begin() + 1);
  for (int rank = 0; rank < n_ranks(); ++rank) {
    int row = 0;
    for (const int m : this->orders(rank)) {
      if (m < 0 || m > mmax || owner_[to_size(m)] >= 0) {
        throw UsageError(fmt::format(
            "order m = {} of rank {} is beyond mmax = {} or on two ranks; every order must be on "
            "exactly one rank",
            m, rank, mmax));
      }
      owner_[to_size(m)] = rank;
      row_[to_size(m)] = row++;
    }
  }
  const auto missing = std::find(owner_.begin(), owner_.end(), -1);
  if (missing == owner_.end()) return;
  throw UsageError(
      fmt::format("no rank has the a_lm of order m = {}; every order 0..{} must be on one",
                  missing - owner_.begin(), mmax));
}

std::span<const int> OrderOwners::orders(int rank) const {
  return std::span(orders_).subspan(to_size(begin_[to_size(rank)]),
                                    to_size(begin_[to_size(rank + 1)] - begin_[to_size(rank)]));
}

std::int64_t OrderOwners::count_up_to(int rank, int l) const {
  const std::span<const int> mine = orders(rank);
  return std::upper_bound(mine.begin(), mine.end(), l) - mine.begin();
}

std::vector<DegreeBlock> cut_degrees(int lmax, std::int64_t coefficients, std::int64_t multiple) {
  std::vector<DegreeBlock> blocks;
  for (int end = lmax + 1; end > 0;) {
    std::int64_t held = 0;
    int begin = end;
    while (begin > 0 && held + begin <= coefficients) held += begin--;
    std::int64_t count = end - begin;
    if (begin > 0) count = std::max(count / multiple * multiple, multiple);
    begin = static_cast<int>(std::max<std::int64_t>(0, end - count));
    blocks.push_back({begin, end});
    end = begin;
  }
  return blocks;
}

std::vector<int> dealt_degrees(DegreeBlock block, int rank, int n_ranks) {
  std::vector<int> degrees;
  for (int round = 0; block.end - 1 - round * n_ranks >= block.begin; ++round) {
    const int place = round % 2 == 0 ? rank : n_ranks - 1 - rank;
    const int l = block.end - 1 - round * n_ranks - place;
    if (l >= block.begin) degrees.push_back(l);
  }
  return degrees;
}

DegreeMessages::DegreeMessages(const OrderOwners& owners, DegreeBlock degrees_of_block, int rank,
                               std::int64_t n_components)
    : block(degrees_of_block), degrees(dealt_degrees(block, rank, owners.n_ranks())) {
  const int n_ranks = owners.n_ranks();
  by_order_first.resize(to_size(block.end - block.begin));
  by_order_rows.resize(by_order_first.size());
  for (int peer = 0; peer < n_ranks; ++peer) {
    const std::int64_t before = by_order_size;
    for (const int l : dealt_degrees(block, peer, n_ranks)) {
      const std::int64_t rows = owners.count_up_to(rank, l);
      by_order_first[to_size(l - block.begin)] = by_order_size;
      by_order_rows[to_size(l - block.begin)] = rows;
      by_order_size += rows * n_components;
    }
    by_order_counts.push_back(by_order_size - before);
  }
  by_degree_first.resize(degrees.size() * to_size(n_ranks));
  by_degree_rows.resize(by_degree_first.size());
  for (int peer = 0; peer < n_ranks; ++peer) {
    const std::int64_t before = by_degree_size;
    for (std::size_t i = 0; i < degrees.size(); ++i) {
      const std::int64_t rows = owners.count_up_to(peer, degrees[i]);
      by_degree_first[i * to_size(n_ranks) + to_size(peer)] = by_degree_size;
      by_degree_rows[i * to_size(n_ranks) + to_size(peer)] = rows;
      by_degree_size += rows * n_components;
    }
    by_degree_counts.push_back(by_degree_size - before);
  }
}

}  // namespace ringweave::detail::inline distribute
