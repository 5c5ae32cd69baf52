// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/host_device.hpp"
#include "legendre/cuda/plan/sweep_shapes.hpp"
#include "legendre/cuda/plan/sweep_types.hpp"

namespace ringweave::detail::gpu {

/// Computes the coefficients of two-degree steps (RecurrenceByTwo), one block per row; those of low
/// orders are copied. Only the alpha_k are sequential,
///   alpha_k = -alpha_{k-2} products_{k-2} / products_{k-1},   products_k = e_{2k+2} e_{2k+3}:
/// one thread computes the even steps of a tile, another the odd ones, in the order of the host
/// code, so that the results are identical.
struct CoefficientLaunch {
  static constexpr int least_blocks = 4;
  static constexpr int steps = block_threads;  ///< per tile, one per thread
  struct Shared {
    Array<double, steps + 1> ratio;  ///< alpha_k / -alpha_{k-2} for the tile and the step after it
    Array<double, steps + 1> alpha;  ///< for the same steps
  };

  const SweepRow* rows;
  const OrderRow* orders;
  std::int64_t first_row;
  RowRange wanted;
  const Double2* precise_coefficients;  ///< [step][2], beginning at SweepRow::precise
  const double* precise_alpha;
  Double2* coefficients;  ///< [step][(a, g from equator), (a, g from pole)]
  double* alpha;          ///< [step]

  template <class Block>
  RINGWEAVE_LAUNCH void operator()(const Block& block, Shared& shared) const {
    const SweepRow& row = rows[first_row + block.index()];
    const std::int64_t head = orders[row.order_row].head;
    if (!wanted.contains(head)) return;
    if (row.precise >= 0) return copy(block, row);
    for (int begin = 0; begin < row.n_steps; begin += steps) {
      block.each([&](int thread) {
        for (int i = thread; i <= steps; i += block_threads) {
          const int k = begin + i;
          if (k >= 2) shared.ratio[i] = product(row.m, k - 2) / product(row.m, k - 1);
        }
      });
      block.sync();
      block.each([&](int thread) {
        if (thread < 2) follow(row.m, begin, thread, shared);
      });
      block.sync();
      block.each([&](int thread) {
        if (begin + thread < row.n_steps) write(row, begin + thread, shared.alpha + thread);
      });
    }
  }

 private:
  RINGWEAVE_HOST_DEVICE static double factor(int m, int j) { return degree_factor(m + j, m, 0); }
  RINGWEAVE_HOST_DEVICE static double product(int m, int k) {
    return factor(m, 2 * k + 2) * factor(m, 2 * k + 3);
  }

  /// Computes every second alpha of a tile.
  RINGWEAVE_HOST_DEVICE static void follow(int m, int begin, int first, Shared& shared) {
    int i = first;
    double last = 0;
    if (begin == 0) {
      last = 1 / factor(m, 2 * first + 1);
      shared.alpha[i] = last;
      i += 2;
    } else {
      last = shared.alpha[steps - 2 + first];
    }
    for (; i <= steps; i += 2) {
      last = -last * shared.ratio[i];
      shared.alpha[i] = last;
    }
  }

  /// Writes one step as sweep::coefficients_by_two does; own_alpha holds alpha_k and the next.
  RINGWEAVE_HOST_DEVICE void write(const SweepRow& row, int k, const double* own_alpha) const {
    const double e1 = factor(row.m, 2 * k + 1);
    const double e2 = factor(row.m, 2 * k + 2);
    const double e3 = factor(row.m, 2 * k + 3);
    const double a = own_alpha[0] / (e2 * e3 * own_alpha[1]);
    const double zero = e1 * e1 + e2 * e2;
    Double2* target = coefficients + 2 * (row.coefficients + k);
    target[0] = {a, -a * zero};
    target[1] = {a, a * (1 - zero)};
    alpha[row.coefficients + k] = own_alpha[0];
  }

  template <class Block>
  RINGWEAVE_LAUNCH void copy(const Block& block, const SweepRow& row) const {
    block.each([&](int thread) {
      for (int k = thread; k < row.n_steps; k += block_threads) {
        alpha[row.coefficients + k] = precise_alpha[row.precise + k];
        for (int i = 0; i < 2; ++i) {
          coefficients[2 * (row.coefficients + k) + i] =
              precise_coefficients[2 * (row.precise + k) + i];
        }
      }
    });
  }
};

}  // namespace ringweave::detail::gpu
