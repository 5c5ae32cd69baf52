// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/host_device.hpp"
#include "legendre/cuda/plan/sweep_shapes.hpp"
#include "legendre/cuda/plan/sweep_types.hpp"

namespace ringweave::detail::gpu {

/// Distributes single steps over blocks: block `index` processes some steps of one row.
struct StepsOfRows {
  const SweepRow* rows;
  const OrderRow* orders;
  std::int64_t first_row;
  std::int64_t blocks_per_row;
  RowRange wanted;

  /// Calls work(row, step) for the steps of a block.
  template <class Block, class Work>
  RINGWEAVE_LAUNCH void each(const Block& block, const Work& work) const {
    const SweepRow& row = rows[first_row + block.index() / blocks_per_row];
    const std::int64_t head = orders[row.order_row].head;
    if (!wanted.contains(head)) return;
    const auto first = static_cast<std::int32_t>(block.index() % blocks_per_row) * block_threads;
    block.each([&](int thread) {
      if (first + thread < row.n_steps) work(row, first + thread);
    });
  }
  /// Calls work(row, degree) for both degrees of each two-degree step.
  template <class Block, class Work>
  RINGWEAVE_LAUNCH void each_degree(const Block& block, const Work& work) const {
    each(block, [&](const SweepRow& row, std::int32_t k) {
      for (std::int32_t j = 2 * k; j < 2 * k + 2; ++j) work(row, j);
    });
  }
};

/// One component of a_lm for some rows: the caller's, or intermediate rows in double.
template <class T>
struct AlmComponent {
  T* user = nullptr;       ///< a component of the caller's a_lm; null: intermediate rows
  double* made = nullptr;  ///< [SweepRow::made + degree][re, im]
  std::int32_t extra = 0;  ///< degrees of intermediate rows beyond lmax
};

/// Returns value j (degree m + j) of a component; zero beyond its last.
template <class T>
RINGWEAVE_HOST_DEVICE Double2 alm_value(const AlmComponent<const T>& from, const OrderRow& order,
                                        const SweepRow& row, std::int64_t j) {
  if (j >= order.n_degrees + from.extra) return {0, 0};
  if (from.user == nullptr) {
    const double* value = from.made + 2 * (row.made + j);
    return {value[0], value[1]};
  }
  const T* value = from.user + 2 * (order.alm + j);
  return {static_cast<double>(value[0]), static_cast<double>(value[1])};
}

/// Stores value j unless it is beyond the last.
template <class T>
RINGWEAVE_HOST_DEVICE void store_alm(const AlmComponent<T>& to, const OrderRow& order,
                                     const SweepRow& row, std::int64_t j, bool add, Double2 value) {
  if (j >= order.n_degrees + to.extra) return;
  if (to.user == nullptr) {
    double* target = to.made + 2 * (row.made + j);
    target[0] = value.x;
    target[1] = value.y;
    return;
  }
  T* target = to.user + 2 * (order.alm + j);
  if (add) {
    value.x += static_cast<double>(target[0]);
    value.y += static_cast<double>(target[1]);
  }
  target[0] = static_cast<T>(value.x);
  target[1] = static_cast<T>(value.y);
}

/// Transforms a_lm into the columns of two-degree steps (RecurrenceByTwo::precondition).
template <class T, int Maps>
struct PreconditionByTwo {
  using Shared = NoShared;
  static constexpr int least_blocks = 4;
  StepsOfRows steps;
  const double* alpha;  ///< [step], all rows
  Array<AlmComponent<const T>, Maps> alm;
  Double2* columns;

  template <class Block>
  RINGWEAVE_LAUNCH void operator()(const Block& block, Shared&) const {
    steps.each(block, [&](const SweepRow& row, std::int32_t k) {
      const OrderRow& order = steps.orders[row.order_row];
      const double odd = alpha[row.coefficients + k];
      const double here = odd * degree_factor(row.m + 2 * k + 1, row.m, 0);
      const double next = odd * degree_factor(row.m + 2 * k + 2, row.m, 0);
      Double2* target = columns + (row.columns + k) * 2 * Maps;
      RINGWEAVE_UNROLL
      for (int map = 0; map < Maps; ++map) {
        const Double2 a = alm_value(alm[map], order, row, 2 * k);
        const Double2 b = alm_value(alm[map], order, row, 2 * k + 1);
        const Double2 c = alm_value(alm[map], order, row, 2 * k + 2);
        target[2 * map] = {here * a.x + next * c.x, here * a.y + next * c.y};
        target[2 * map + 1] = {odd * b.x, odd * b.y};
      }
    });
  }
};

/// Copies a_lm into the columns of one-degree steps of scalar maps.
template <class T, int Maps>
struct PreconditionByOne {
  using Shared = NoShared;
  static constexpr int least_blocks = 4;
  StepsOfRows steps;
  Array<AlmComponent<const T>, Maps> alm;
  Double2* columns;

  template <class Block>
  RINGWEAVE_LAUNCH void operator()(const Block& block, Shared&) const {
    steps.each(block, [&](const SweepRow& row, std::int32_t j) {
      const OrderRow& order = steps.orders[row.order_row];
      RINGWEAVE_UNROLL
      for (int map = 0; map < Maps; ++map) {
        columns[(row.columns + j) * Maps + map] = alm_value(alm[map], order, row, j);
      }
    });
  }
};

/// Partial sums of one kind of sweep: [row][slot][step][column].
struct PartialSums {
  const SweepRow* rows;  ///< null: no partial sums
  const double* sums;

  /// Sums column `column` (of `columns`) of a step over the slots in order.
  RINGWEAVE_HOST_DEVICE Double2 total(std::int64_t row, std::int32_t step, int columns,
                                      int column) const {
    const SweepRow& at = rows[row];
    Double2 sum{0, 0};
    if (step < 0 || step >= at.n_steps || at.n_slots == 0) return sum;
    const double* from = sums + (at.partials + step) * columns + column;
    for (std::int32_t slot = 0; slot < at.n_slots; ++slot) {
      sum.x += from[0];
      sum.y += from[1];
      from += std::int64_t{at.n_steps} * columns;
    }
    return sum;
  }
};

/// Adds the sums of all blocks of a row, one-degree sums included, and transforms them into its
/// a_lm (RecurrenceByTwo::restore).
template <class T, int Maps>
struct RestoreScalars {
  using Shared = NoShared;
  static constexpr int least_blocks = 10;
  StepsOfRows steps;
  const double* alpha;
  PartialSums by_two;
  PartialSums by_one;
  Array<AlmComponent<T>, Maps> alm;
  bool add;

  template <class Block>
  RINGWEAVE_LAUNCH void operator()(const Block& block, Shared&) const {
    steps.each(block, [&](const SweepRow& row, std::int32_t k) {
      const OrderRow& order = steps.orders[row.order_row];
      const std::int64_t index = &row - steps.rows;
      const double odd = alpha[row.coefficients + k];
      const double here = odd * degree_factor(row.m + 2 * k + 1, row.m, 0);
      const double before =
          k == 0 ? 0 : alpha[row.coefficients + k - 1] * degree_factor(row.m + 2 * k, row.m, 0);
      for (int map = 0; map < Maps; ++map) {
        const Double2 even = by_two.total(index, k, 4 * Maps, 4 * map);
        const Double2 last = by_two.total(index, k - 1, 4 * Maps, 4 * map);
        const Double2 other = by_two.total(index, k, 4 * Maps, 4 * map + 2);
        Double2 a{here * even.x + before * last.x, here * even.y + before * last.y};
        Double2 b{odd * other.x, odd * other.y};
        if (by_one.rows != nullptr) {
          const Double2 a_one = by_one.total(index, 2 * k, 2 * Maps, 2 * map);
          const Double2 b_one = by_one.total(index, 2 * k + 1, 2 * Maps, 2 * map);
          a = {a.x + a_one.x, a.y + a_one.y};
          b = {b.x + b_one.x, b.y + b_one.y};
        }
        store_alm(alm[map], order, row, 2 * k, add, a);
        store_alm(alm[map], order, row, 2 * k + 1, add, b);
      }
    });
  }
};

/// Transforms E and B into the columns of a spin field, E + iB and E - iB.
template <class T>
struct PreconditionSpin {
  using Shared = NoShared;
  static constexpr int least_blocks = 4;
  StepsOfRows steps;
  AlmComponent<const T> e;
  AlmComponent<const T> b;
  Double2* columns;

  template <class Block>
  RINGWEAVE_LAUNCH void operator()(const Block& block, Shared&) const {
    steps.each(block, [&](const SweepRow& row, std::int32_t j) {
      const OrderRow& order = steps.orders[row.order_row];
      const std::int64_t degree = row.first_degree - row.m + j;
      const Double2 gradient = alm_value(e, order, row, degree);
      const Double2 curl = alm_value(b, order, row, degree);
      Double2* target = columns + (row.columns + j) * 2;
      target[0] = {gradient.x - curl.y, gradient.y + curl.x};
      target[1] = {gradient.x + curl.y, gradient.y - curl.x};
    });
  }
};

/// Applies the transpose to the sums of all blocks of a row; degrees below the spin are zero.
template <class T>
struct RestoreSpin {
  using Shared = NoShared;
  static constexpr int least_blocks = 12;
  StepsOfRows steps;
  PartialSums sums;
  AlmComponent<T> e;
  AlmComponent<T> b;
  bool add;

  template <class Block>
  RINGWEAVE_LAUNCH void operator()(const Block& block, Shared&) const {
    steps.each(block, [&](const SweepRow& row, std::int32_t j) {
      const OrderRow& order = steps.orders[row.order_row];
      const std::int64_t index = &row - steps.rows;
      const std::int32_t skip = row.first_degree - row.m;
      const Double2 plus = sums.total(index, j, SpinByOne::columns, 0);
      const Double2 minus = sums.total(index, j, SpinByOne::columns, 2);
      store_alm(e, order, row, skip + j, add, {0.5 * (plus.x + minus.x), 0.5 * (plus.y + minus.y)});
      store_alm(b, order, row, skip + j, add, {0.5 * (plus.y - minus.y), 0.5 * (minus.x - plus.x)});
      for (std::int32_t low = j; low < skip; low += row.n_steps) {
        store_alm(e, order, row, low, add, {0, 0});
        store_alm(b, order, row, low, add, {0, 0});
      }
    });
  }
};

}  // namespace ringweave::detail::gpu
