// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ringweave {

/// Set of the fields that go through a transform together, each with its spin: {0} is T, {0, 2} is
/// TQU, {0, 0, 0} three scalar maps, {2} a QU map. A scalar field has one component (a_lm <-> map),
/// a field of spin s >= 1 two (E, B <-> the real and imaginary part, Q, U for s = 2). Components
/// are numbered field by field.
class FieldSet {
 public:
  /// A field of the set.
  struct Field {
    int spin;                      ///< 0: a scalar field
    std::int64_t first_component;  ///< of its one or two, in the set
  };
  /// Makes a set of fields with these spins.
  /// Error  UsageError when there are none or a spin is negative.
  explicit FieldSet(const std::vector<int>& spins);
  /// Makes a set of `count` fields of one spin, 1 or more.
  /// Error  UsageError when there are none or the spin is negative.
  static FieldSet batch(int spin, int count) {
    return FieldSet(std::vector<int>(static_cast<std::size_t>(count > 0 ? count : 0), spin));
  }

  const std::vector<Field>& fields() const { return fields_; }  ///< in the order given
  std::int64_t n_components() const { return n_components_; }   ///< of all fields
  int max_spin() const { return max_spin_; }                    ///< largest spin of a field

 private:
  std::vector<Field> fields_;
  std::int64_t n_components_ = 0;
  int max_spin_ = 0;
};

/// Layout of the a_lm of some orders in one component: m-major, l = m..lmax contiguous, orders
/// ascending. With all orders this is healpy's order, index m (2 lmax + 1 - m) / 2 + l.
class AlmLayout {
 public:
  /// Lays out all orders 0..mmax.
  /// Error  UsageError unless 0 <= mmax <= lmax.
  AlmLayout(int lmax, int mmax);
  /// Lays out some orders, for example those of one rank; may be none.
  /// Error  UsageError unless 0 <= mmax <= lmax and the orders ascend strictly within 0..mmax.
  AlmLayout(int lmax, int mmax, std::vector<int> orders);

  int lmax() const { return lmax_; }  ///< highest degree
  int mmax() const { return mmax_; }  ///< highest order of all layouts together
  std::span<const int> orders() const { return orders_; }  ///< m of every row, ascending
  std::int64_t n_orders() const { return static_cast<std::int64_t>(orders_.size()); }  ///< rows
  std::int64_t size() const { return size_; }  ///< coefficients of one component
  /// Returns the order m of a row.
  int order(std::int64_t row) const { return orders_[static_cast<std::size_t>(row)]; }
  /// Returns the base of a row: the index of (l, m) is row_base(row) + l, with m = order(row).
  std::int64_t row_base(std::int64_t row) const { return row_base_[static_cast<std::size_t>(row)]; }
  /// Returns the index of (l, m) in a component, m = order(row).
  std::int64_t index(std::int64_t row, int l) const { return row_base(row) + l; }
  /// Returns the row that holds order m, -1 when this layout lacks it.
  std::int64_t row_of(int m) const;

  /// Returns the index of (l, m) when all orders are there.
  static std::int64_t full_index(int lmax, int l, int m) {
    return static_cast<std::int64_t>(m) * (2 * static_cast<std::int64_t>(lmax) + 1 - m) / 2 + l;
  }
  /// Returns the number of coefficients when all orders are there.
  static std::int64_t full_size(int lmax, int mmax) { return full_index(lmax, lmax, mmax) + 1; }

 private:
  int lmax_;
  int mmax_;
  std::vector<int> orders_;
  std::vector<std::int64_t> row_base_;
  std::int64_t size_ = 0;
};

}  // namespace ringweave
