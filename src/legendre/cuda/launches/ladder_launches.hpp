// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cmath>

#include "base/host_device.hpp"
#include "legendre/cuda/launches/alm_launches.hpp"

namespace ringweave::detail::gpu {

/// Factors of SpinLadder between spin s and s - 1; zero below the spin.
struct LadderFactors {
  int s;
  RINGWEAVE_HOST_DEVICE double u(int l) const {
    return l < s ? 0 : std::sqrt(static_cast<double>(l - s + 1) * (l - s + 2)) / (l + 1);
  }
  RINGWEAVE_HOST_DEVICE double v(int l) const {
    return l < s ? 0 : std::sqrt(static_cast<double>(l + s - 1) * (l + s)) / l;
  }
  RINGWEAVE_HOST_DEVICE double w(int l) const {
    return l < s ? 0
                 : std::sqrt(static_cast<double>(l - s + 1) * (l + s)) /
                       (static_cast<double>(l) * (l + 1));
  }
};

/// Rows lambda^{+s} and lambda^{-s} of a field between E, B and Q, U; each is [made degree][re,
/// im].
struct LadderRows {
  double* plus;
  double* minus;
};

RINGWEAVE_HOST_DEVICE Double2 row_value(const double* row, std::int64_t made, std::int64_t j,
                                        std::int64_t size) {
  if (j < 0 || j >= size) return {0, 0};
  const double* value = row + 2 * (made + j);
  return {value[0], value[1]};
}
RINGWEAVE_HOST_DEVICE void set_row_value(double* row, std::int64_t made, std::int64_t j,
                                         Double2 value) {
  row[2 * (made + j)] = value.x;
  row[2 * (made + j) + 1] = value.y;
}
/// Returns here a - sign (below b + above c).
RINGWEAVE_HOST_DEVICE Double2 banded(double here, Double2 a, double sign, double below, Double2 b,
                                     double above, Double2 c) {
  return {here * a.x - sign * (below * b.x + above * c.x),
          here * a.y - sign * (below * b.y + above * c.y)};
}

/// Transforms E and B into the rows E + iB and E - iB, zero below the spin. Two degrees of a row
/// are one step.
template <class T>
struct LadderBegin {
  using Shared = NoShared;
  static constexpr int least_blocks = 4;
  StepsOfRows steps;
  AlmComponent<const T> e;
  AlmComponent<const T> b;
  int spin;
  LadderRows rows;

  template <class Block>
  RINGWEAVE_LAUNCH void operator()(const Block& block, Shared&) const {
    steps.each_degree(block, [&](const SweepRow& row, std::int32_t j) {
      const OrderRow& order = steps.orders[row.order_row];
      const bool counts = row.m + j >= spin;
      const Double2 gradient = alm_value(e, order, row, j);
      const Double2 curl = alm_value(b, order, row, j);
      const Double2 plus{gradient.x - curl.y, gradient.y + curl.x};
      const Double2 minus{gradient.x + curl.y, gradient.y - curl.x};
      set_row_value(rows.plus, row.made, j, counts ? plus : Double2{0, 0});
      set_row_value(rows.minus, row.made, j, counts ? minus : Double2{0, 0});
    });
  }
};

/// Takes one step of a field from spin s to s - 1 (SpinLadder::lower) or back (raise).
struct LadderStep {
  enum class Way { down, up };
  using Shared = NoShared;
  static constexpr int least_blocks = 4;
  StepsOfRows steps;
  Way way;
  int s;
  LadderRows from;
  LadderRows to;

  template <class Block>
  RINGWEAVE_LAUNCH void operator()(const Block& block, Shared&) const {
    steps.each_degree(block, [&](const SweepRow& row, std::int32_t j) { degree(row, j); });
  }

 private:
  RINGWEAVE_HOST_DEVICE void degree(const SweepRow& row, std::int32_t j) const {
    const LadderFactors factors{s};
    const int l = row.m + j;
    const double below = j == 0 ? 0 : degree_factor(l, row.m, 0);
    const double above = degree_factor(l + 1, row.m, 0);
    const double here = row.m * factors.w(l);
    double from_below = below * (j == 0 ? 0 : factors.u(l - 1));
    double from_above = -above * factors.v(l + 1);
    if (way == Way::up) {
      from_below = -below * factors.v(l);
      from_above = above * factors.u(l);
    }
    const std::int64_t size = 2 * std::int64_t{row.n_steps};
    const auto step = [&](const double* source, double sign) {
      return banded(here, row_value(source, row.made, j, size), sign, from_below,
                    row_value(source, row.made, j - 1, size), from_above,
                    row_value(source, row.made, j + 1, size));
    };
    set_row_value(to.plus, row.made, j, step(from.plus, 1));
    set_row_value(to.minus, row.made, j, step(from.minus, -1));
  }
};

/// Transforms the rows at spin 0 into the scalar a_lm of Q and U, or back, in place. Degrees beyond
/// the highest are zero.
struct LadderTurn {
  enum class Way { to_scalars, to_rows };
  using Shared = NoShared;
  static constexpr int least_blocks = 4;
  StepsOfRows steps;
  Way way;
  int spin;
  LadderRows rows;  ///< plus and minus, or q and u

  template <class Block>
  RINGWEAVE_LAUNCH void operator()(const Block& block, Shared&) const {
    steps.each_degree(block, [&](const SweepRow& row, std::int32_t j) { degree(row, j); });
  }

 private:
  RINGWEAVE_HOST_DEVICE void degree(const SweepRow& row, std::int32_t j) const {
    const double parity = spin % 2 == 0 ? 1 : -1;
    const std::int64_t size = steps.orders[row.order_row].n_degrees + spin;
    const Double2 a = row_value(rows.plus, row.made, j, size);
    const Double2 b = row_value(rows.minus, row.made, j, size);
    if (way == Way::to_scalars) {
      set_row_value(rows.plus, row.made, j,
                    {-0.5 * (a.x + parity * b.x), -0.5 * (a.y + parity * b.y)});
      set_row_value(rows.minus, row.made, j,
                    {-0.5 * (a.y - parity * b.y), 0.5 * (a.x - parity * b.x)});
    } else {
      set_row_value(rows.plus, row.made, j, {-(a.x - b.y), -(a.y + b.x)});
      set_row_value(rows.minus, row.made, j, {-parity * (a.x + b.y), -parity * (a.y - b.x)});
    }
  }
};

/// Transforms the rows at the spin of a field into E and B.
template <class T>
struct LadderEnd {
  using Shared = NoShared;
  static constexpr int least_blocks = 4;
  StepsOfRows steps;
  LadderRows rows;
  AlmComponent<T> e;
  AlmComponent<T> b;
  bool add;

  template <class Block>
  RINGWEAVE_LAUNCH void operator()(const Block& block, Shared&) const {
    steps.each_degree(block, [&](const SweepRow& row, std::int32_t j) {
      const OrderRow& order = steps.orders[row.order_row];
      const Double2 plus = row_value(rows.plus, row.made, j, order.n_degrees);
      const Double2 minus = row_value(rows.minus, row.made, j, order.n_degrees);
      store_alm(e, order, row, j, add, {0.5 * (plus.x + minus.x), 0.5 * (plus.y + minus.y)});
      store_alm(b, order, row, j, add, {0.5 * (plus.y - minus.y), 0.5 * (minus.x - plus.x)});
    });
  }
};

}  // namespace ringweave::detail::gpu
