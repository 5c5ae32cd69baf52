// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>
#include <span>

#include "legendre/shared/sweep_tables.hpp"

namespace ringweave::detail::inline legendre::sweep {

/// Kinds of sweeps over the degrees, by the terms they sum.
enum class Kind {
  /// Scalar maps, two degrees per step. Columns and sums are (even re, even im, odd re, odd im) of
  /// each map.
  scalars_by_two,
  /// Scalar maps, one degree per step: slower, but accurate near the equator. Columns are (re, im)
  /// of each map; sums are these of all maps over the even steps, then over the odd ones.
  scalars_by_one,
  /// One field of spin s, one degree per step. Columns are E + iB (re, im), E - iB (re, im); sums
  /// are these times lambda_{+s}, lambda_{-s} for the northern ring, then with the functions
  /// exchanged and alternating sign for the southern ring.
  spin,
};
struct Shape {
  Kind kind;
  int maps;  ///< 1 for spin
  constexpr int n_columns() const { return (kind == Kind::scalars_by_one ? 2 : 4) * maps; }
  constexpr int n_sums() const { return (kind == Kind::spin ? 8 : 4) * maps; }
};

/// Memory that a sweep prefetches into the L2 cache during its sums. Any address is allowed.
struct PrefetchRange {
  const char* begin;
  const char* end;
};

/// One order on the pairs from `first_pair` to the last.
struct Order {
  Seed seed;
  const double* coefficients;  ///< [step][stride_by_two or stride_by_one]
  std::int64_t n_steps;        ///< a multiple of chunk; 0: all sums are zero
  std::int64_t first_pair;     ///< the sweep rounds it down to whole vectors
  /// Written by first_values() for this order and these pairs; null: computed from the seed.
  const double* first_values = nullptr;
};

/// Returns how many scalar maps fit in registers; synthesize and adjoint take 1..max_maps().
int max_maps();
/// Returns the first pair that sweeps may access for an order that begins at `pair`.
inline std::int64_t first_touched(std::int64_t pair) {
  const std::int64_t group = max_group_vectors * lanes();
  return pair / group * group;
}

/// Computes the first values of an order of scalar maps; takes as long as some 15 steps.
/// values  [p_0, scale][pair - first_touched(order.first_pair)], n_first_values(pairs, order)
///         doubles, overwritten
void first_values(const Pairs& pairs, const Order& order, double* values);
std::int64_t n_first_values(const Pairs& pairs, const Order& order);

/// Computes sums[o][pair] = sum over steps of p_function(o) * column(o).
/// columns  [step][column]
/// sums     [sum][stride]; pairs from first_touched(order.first_pair) to the end (padding included)
///          are overwritten
void synthesize(const Pairs& pairs, const Order& order, Shape shape, const double* columns,
                double* sums, std::int64_t stride);

/// Applies the exact transpose.
/// sums     [sum][stride]; zero for pairs before order.first_pair and in the padding
/// columns  [step][column], overwritten
/// scratch  adjoint_scratch(shape, pairs.count) doubles, aligned to 64 bytes
void adjoint(const Pairs& pairs, const Order& order, Shape shape, const double* sums,
             std::int64_t stride, double* columns, double* scratch,
             std::span<const PrefetchRange> wanted = {});
std::int64_t adjoint_scratch(Shape shape, std::int64_t n_pairs);

/// Sums of one map: its mode on a ring is weight (even +- z odd). Imaginary parts are one stride
/// after the real ones.
struct MapSums {
  double* even;
  double* odd;
  const double* z;       ///< [pair]; null: 1
  const double* weight;  ///< [pair]; null: 1
  std::int64_t component;
};
/// Computes modes [ring of the run][component] from sums; other components are unchanged.
void write_modes(const MapSums* maps, int n_maps, std::int64_t stride, const RingRun& run,
                 std::complex<double>* modes, std::int64_t n_components);
/// Applies the exact transpose: overwrites the sums of these pairs, or adds to them.
void read_modes(const MapSums* maps, int n_maps, std::int64_t stride, const RingRun& run,
                const std::complex<double>* modes, std::int64_t n_components, bool add);

}  // namespace ringweave::detail::inline legendre::sweep
