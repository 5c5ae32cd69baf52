// SPDX-License-Identifier: GPL-3.0-or-later
// Compiled once for every instruction set: the guard is toggled by hwy/foreach_target.h.
#if defined(RINGWEAVE_LEGENDRE_HOST_ADJOINT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef RINGWEAVE_LEGENDRE_HOST_ADJOINT_INL
#undef RINGWEAVE_LEGENDRE_HOST_ADJOINT_INL
#else
#define RINGWEAVE_LEGENDRE_HOST_ADJOINT_INL
#endif

#include "legendre/host/sweep-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ringweave::sweep::HWY_NAMESPACE {

// Groups whose recurrences stay in the first-level cache while the degrees run: the sums over pairs
// are loaded and stored once per chunk and block.
constexpr int block_groups = 8;

/// A group with what it is multiplied by, at hand.
template <class S>
struct AdjointGroup {
  Group<S> functions;
  HWY_ALIGN LaneArray<S::sums * group_vectors> input;  // [sum][vector]
};

/// One column of one step, summed over pairs but not over lanes, lies at columns + (step *
/// S::columns + column) * lanes.
template <class S>
struct AdjointJob {
  const Order& order;
  double* columns;
};

/// Steps whose sums over pairs fit the registers.
template <class S>
constexpr int steps_in_registers() {
  constexpr int registers = n_registers * 3 / 4;
  return 4 * S::columns <= registers ? 4 : 2 * S::columns <= registers ? 2 : 1;
}

/// Third phase: `Steps` steps from `step` on for the groups [first_group, n_groups) of a block.
template <class S, int Steps>
HWY_INLINE void steady_steps(const AdjointJob<S>& job, AdjointGroup<S>* groups, int first_group,
                             int n_groups, std::int64_t step) {
  constexpr std::int64_t stride = S::stride;
  const double* HWY_RESTRICT c = job.order.coefficients + step * stride;
  const double* HWY_RESTRICT g = c + groups[first_group].functions.g_offset;  // the same in a block
  Vecs<Steps> a;
  Vecs<Steps * S::functions> constant;
#pragma GCC unroll 4
  for (int t = 0; t < Steps; ++t) {
    a[t] = all(c[t * stride]);
#pragma GCC unroll 2
    for (int f = 0; f < S::functions; ++f) constant[t * S::functions + f] = all(g[t * stride + f]);
  }
  Vecs<Steps * S::columns> total;
#pragma GCC unroll 32
  for (int i = 0; i < Steps * S::columns; ++i) total[i] = hn::Zero(Lanes());
  for (int n = first_group; n < n_groups; ++n) {
    Group<S>& group = groups[n].functions;
    for (int v = 0; v < group_vectors; ++v) {
      const Vec x = at(group.x, v);
      Vecs<S::functions> previous;
      Vecs<S::functions> current;
#pragma GCC unroll 2
      for (int f = 0; f < S::functions; ++f) {
        previous[f] = at(group.previous, f * group_vectors + v);
        current[f] = at(group.current, f * group_vectors + v);
      }
      Vecs<S::sums> input;
#pragma GCC unroll 16
      for (int o = 0; o < S::sums; ++o) input[o] = at(groups[n].input, o * group_vectors + v);
#pragma GCC unroll 4
      for (int t = 0; t < Steps; ++t) {
#pragma GCC unroll 16
        for (int o = 0; o < S::sums; ++o) {
          Vec& target = total[t * S::columns + o % S::columns];
          const Vec p = current[S::function(o)];
          target = S::alternates(o) && t % 2 != 0 ? hn::NegMulAdd(p, input[o], target)
                                                  : hn::MulAdd(p, input[o], target);
        }
#pragma GCC unroll 2
        for (int f = 0; f < S::functions; ++f) {
          const Vec factor = hn::MulAdd(a[t], x, constant[t * S::functions + f]);
          const Vec next = hn::MulAdd(factor, current[f], previous[f]);
          previous[f] = current[f];
          current[f] = next;
        }
      }
#pragma GCC unroll 2
      for (int f = 0; f < S::functions; ++f) {
        put(previous[f], group.previous, f * group_vectors + v);
        put(current[f], group.current, f * group_vectors + v);
      }
    }
  }
  double* target = job.columns + step * S::columns * n_lanes;
#pragma GCC unroll 32
  for (int i = 0; i < Steps * S::columns; ++i) put(hn::Add(at(target, i), total[i]), target, i);
}

template <class S>
HWY_NOINLINE void steady_adjoint(const AdjointJob<S>& job, AdjointGroup<S>* groups, int first_group,
                                 int n_groups, std::int64_t step) {
  constexpr int steps = steps_in_registers<S>();
  static_assert(!S::alternates(S::sums - 1) || steps % 2 == 0, "signs alternate within one call");
  for (std::int64_t t = 0; t < chunk; t += steps) {
    steady_steps<S, steps>(job, groups, first_group, n_groups, step + t);
  }
  for (int n = first_group; n < n_groups; ++n) groups[n].functions.step += chunk;
}

/// Adds one step of a group to the columns.
template <class S, bool Odd>
HWY_INLINE void accumulate(const AdjointGroup<S>& group, const Vec* p, double* columns) {
#pragma GCC unroll 16
  for (int column = 0; column < S::columns; ++column) {
    Vec total = at(columns, column);
#pragma GCC unroll 16
    for (int o = column; o < S::sums; o += S::columns) {
#pragma GCC unroll 4
      for (int v = 0; v < group_vectors; ++v) {
        const Vec value = p[S::function(o) * group_vectors + v];
        const Vec input = at(group.input, o * group_vectors + v);
        total = Odd && S::alternates(o) ? hn::NegMulAdd(value, input, total)
                                        : hn::MulAdd(value, input, total);
      }
    }
    put(total, columns, column);
  }
}

/// One chunk of the second phase of one group: some lanes are within range.
template <class S>
HWY_NOINLINE void mixed_adjoint(const AdjointJob<S>& job, AdjointGroup<S>& group) {
  Group<S>& functions = group.functions;
  Running<S, group_vectors> run;
  run.load(functions, 0);
  constexpr int values = decltype(run)::values;
  constexpr std::int64_t stride = S::stride;
  const double* c = job.order.coefficients + functions.step * stride;
  const double* g = c + functions.g_offset;
  double* columns = job.columns + functions.step * S::columns * n_lanes;
  for (std::int64_t t = 0; t < chunk; t += 2) {
    Vecs<values> within;
    lift_and_mask<values>(run.previous, run.current, run.scale, within);
    accumulate<S, false>(group, within, columns);
    advance<S::functions, group_vectors>(c, g, run.x, run.previous, run.current);
    lift_and_mask<values>(run.current, run.previous, run.scale, within);
    accumulate<S, true>(group, within, columns + S::columns * n_lanes);
    advance<S::functions, group_vectors>(c + stride, g + stride, run.x, run.current, run.previous);
    c += 2 * stride;
    g += 2 * stride;
    columns += 2 * S::columns * n_lanes;
  }
  run.store(functions);
  functions.step += chunk;
  functions.steady = all_in_range<values>(run.scale);
}

/// All degrees of one block of at most block_groups groups.
template <class S>
void adjoint_block(const AdjointJob<S>& job, AdjointGroup<S>* groups, int n_groups) {
  const auto ready = [&](int n, std::int64_t step) { return groups[n].functions.step == step; };
  std::int64_t step = job.order.n_steps;
  for (int n = 0; n < n_groups; ++n) step = HWY_MIN(step, groups[n].functions.step);
  for (; step < job.order.n_steps; step += chunk) {
    int first_steady = n_groups;
    while (first_steady > 0 && groups[first_steady - 1].functions.steady &&
           ready(first_steady - 1, step)) {
      --first_steady;
    }
    for (int n = 0; n < first_steady; ++n) {
      if (ready(n, step)) mixed_adjoint(job, groups[n]);
    }
    if (first_steady < n_groups) steady_adjoint(job, groups, first_steady, n_groups, step);
  }
}

// Shuffles are called unqualified: the target of one lane lacks them, and does not get here.
template <class D, class V>
HWY_INLINE V add_neighbours(D d, V a, V b) {
  return hn::Add(InterleaveLower(d, a, b), InterleaveUpper(d, a, b));
}
template <class D, class V>
HWY_INLINE V add_halves(D d, V low, V high) {
  return hn::Add(ConcatLowerLower(d, high, low), ConcatUpperUpper(d, high, low));
}
template <class V>
HWY_INLINE V add_blocks(V even, V odd) {
  return hn::Add(OddEvenBlocks(odd, even), SwapAdjacentBlocks(OddEvenBlocks(even, odd)));
}

/// Lane i of the result is the sum of the lanes of vector i of `v`, which holds as many vectors as
/// there are lanes.
template <int N, class D, class V>
HWY_INLINE V lane_sums(D d, const V* v) {
  if constexpr (N == 1) {
    return v[0];
  } else if constexpr (N == 2) {
    return add_neighbours(d, v[0], v[1]);
  } else if constexpr (N == 4) {
    return add_halves(d, add_neighbours(d, v[0], v[1]), add_neighbours(d, v[2], v[3]));
  } else {
    static_assert(N == 8);
    return add_blocks(add_halves(d, add_neighbours(d, v[0], v[1]), add_neighbours(d, v[4], v[5])),
                      add_halves(d, add_neighbours(d, v[2], v[3]), add_neighbours(d, v[6], v[7])));
  }
}

/// Sums lanes in place: [i][lane] -> [i]. `count` is a multiple of the lanes.
inline void add_lanes(double* values, std::int64_t count) {
  for (std::int64_t i = 0; i < count; i += n_lanes) {
    Vecs<static_cast<int>(n_lanes)> v;
#pragma GCC unroll 8
    for (int k = 0; k < n_lanes; ++k) v[k] = at(values + i * n_lanes, k);
    put(lane_sums<static_cast<int>(n_lanes)>(Lanes(), v), values + i, 0);
  }
}

template <class S>
void adjoint_shape(const Pairs& pairs, const Order& order, const double* sums, std::int64_t stride,
                   double* columns) {
  static_assert(chunk * S::columns % n_lanes == 0);
  const std::int64_t n_values = order.n_steps * S::columns;
  for (std::int64_t i = 0; i < n_values; ++i)
    hn::Store(hn::Zero(Lanes()), Lanes(), columns + i * n_lanes);
  AdjointGroup<S> groups[block_groups];
  std::int64_t first = order.first_pair / n_lanes * n_lanes;
  while (first < pairs.count) {
    const Variable variable = variable_at(pairs, first);
    int n_groups = 0;
    for (; n_groups < block_groups && first < pairs.count; ++n_groups, first += group_pairs) {
      AdjointGroup<S>& group = groups[n_groups];
      seed_group(pairs, order, first, variable, group.functions);
      seek(order, group.functions);
      for (int o = 0; o < S::sums; ++o) {
        for (int v = 0; v < group_vectors; ++v) {
          put(hn::LoadU(Lanes(), sums + o * stride + first + v * n_lanes), group.input,
              o * group_vectors + v);
        }
      }
    }
    adjoint_block(AdjointJob<S>{order, columns}, groups, n_groups);
  }
  add_lanes(columns, n_values);
}

}  // namespace ringweave::sweep::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
