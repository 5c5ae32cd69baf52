// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ringweave::detail::inline distribute {

/// The ranks of the orders m = 0..lmax, and the places there. Plain data.
class OrderOwners {
 public:
  /// `orders` are those of rank 0, then of rank 1, and so on, `counts[rank]` of them, ascending.
  /// Error  UsageError unless every order 0..mmax belongs to exactly one rank.
  OrderOwners(int mmax, std::vector<int> orders, const std::vector<std::int64_t>& counts);

  int mmax() const { return static_cast<int>(owner_.size()) - 1; }
  int n_ranks() const { return static_cast<int>(begin_.size()) - 1; }
  std::span<const int> orders(int rank) const;
  int owner(int m) const { return owner_[static_cast<std::size_t>(m)]; }
  /// Place of an order among those of its rank.
  int row(int m) const { return row_[static_cast<std::size_t>(m)]; }
  /// Orders m <= l of a rank.
  std::int64_t count_up_to(int rank, int l) const;

 private:
  std::vector<int> orders_;
  std::vector<std::int64_t> begin_;  ///< [rank]
  std::vector<int> owner_;           ///< [m]
  std::vector<int> row_;             ///< [m]
};

/// A run of degrees, begin <= l < end.
struct DegreeBlock {
  int begin = 0;
  int end = 0;
};

/// Cuts the degrees 0..lmax into blocks, the highest first, of at most `coefficients` a_lm, or of
/// `multiple` degrees if those are more. Where several multiples fit it takes whole ones, so that
/// `multiple` workers have equal shares.
std::vector<DegreeBlock> cut_degrees(int lmax, std::int64_t coefficients, std::int64_t multiple);

/// Returns the degrees of a block that a rank works on, descending. They are dealt from the
/// highest, back and forth over the ranks, which balances work that grows with l.
std::vector<int> dealt_degrees(DegreeBlock block, int rank, int n_ranks);

/// The messages that take the a_lm of a block from the owners of orders to the owners of degrees
/// and back. Messages are [degree of the receiver][component][order m <= l of the sender], in
/// elements; those of all ranks lie one after the other.
struct DegreeMessages {
  /// Plans the messages of the a_lm of `rank`.
  DegreeMessages(const OrderOwners& owners, DegreeBlock block, int rank, std::int64_t n_components);

  DegreeBlock block;
  std::vector<int> degrees;                    ///< of this rank
  std::vector<std::int64_t> by_order_counts;   ///< [rank] a_lm of this rank's orders
  std::vector<std::int64_t> by_degree_counts;  ///< [rank] a_lm of this rank's degrees
  std::int64_t by_order_size = 0;
  std::int64_t by_degree_size = 0;
  /// [l - block.begin] this rank's orders of degree l: the first element, and how many m <= l.
  std::vector<std::int64_t> by_order_first;
  std::vector<std::int64_t> by_order_rows;
  /// [index in degrees][rank] another rank's orders of this rank's degrees.
  std::vector<std::int64_t> by_degree_first;
  std::vector<std::int64_t> by_degree_rows;
};

}  // namespace ringweave::detail::inline distribute
