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

// Groups whose recurrences stay in the first-level cache while the degrees run: the sums over pairs are loaded and
// stored once per chunk and block.
constexpr int block_groups = 8;

/// One column of one step, summed over pairs but not over lanes, lies at columns + (step * S::columns + column) * lanes.
template <class S>
struct AdjointJob {
  const Order& order;
  const double* sums;  ///< at the block's first pair
  std::int64_t stride;
  double* columns;
};

/// Steps whose sums over pairs fit the registers.
template <class S>
constexpr int steps_in_registers() {
  constexpr int registers = n_registers / 2;
  return 4 * S::columns <= registers ? 4 : 2 * S::columns <= registers ? 2 : 1;
}

/// Third phase: `Steps` steps from `step` on for the groups [first_group, n_groups) of a block.
template <class S, int Steps>
HWY_INLINE void steady_steps(const AdjointJob<S>& job, Group<S>* groups, int first_group, int n_groups,
                             std::int64_t step) {
  constexpr std::int64_t stride = coefficient_stride(S::functions);
  const double* HWY_RESTRICT c = job.order.coefficients + step * stride;
  Vecs<Steps * S::columns> total;
#pragma GCC unroll 16
  for (int i = 0; i < Steps * S::columns; ++i) total[i] = hn::Zero(Lanes());
  for (int n = first_group; n < n_groups; ++n) {
    Group<S>& group = groups[n];
    const double* HWY_RESTRICT g = c + group.g_offset;
    for (int v = 0; v < group_vectors; ++v) {
      const double* HWY_RESTRICT sums = job.sums + n * group_pairs + v * n_lanes;
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
      for (int o = 0; o < S::sums; ++o) input[o] = hn::LoadU(Lanes(), sums + o * job.stride);
#pragma GCC unroll 4
      for (int t = 0; t < Steps; ++t) {
#pragma GCC unroll 16
        for (int o = 0; o < S::sums; ++o) {
          Vec& target = total[t * S::columns + S::column(o)];
          const Vec p = current[S::function(o)];
          target = S::alternates(o) && t % 2 != 0 ? hn::NegMulAdd(p, input[o], target)
                                                  : hn::MulAdd(p, input[o], target);
        }
#pragma GCC unroll 2
        for (int f = 0; f < S::functions; ++f) {
          const Vec factor = hn::MulAdd(all(c[t * stride]), x, all(g[t * stride + f]));
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
#pragma GCC unroll 16
  for (int i = 0; i < Steps * S::columns; ++i) put(hn::Add(at(target, i), total[i]), target, i);
}

template <class S>
HWY_NOINLINE void steady_adjoint(const AdjointJob<S>& job, Group<S>* groups, int first_group, int n_groups,
                                 std::int64_t step) {
  constexpr int steps = steps_in_registers<S>();
  static_assert(S::functions == 1 || steps % 2 == 0, "the sign of alternating sums is that of a pair of steps");
  for (std::int64_t t = 0; t < chunk; t += steps) {
    steady_steps<S, steps>(job, groups, first_group, n_groups, step + t);
  }
  for (int n = first_group; n < n_groups; ++n) groups[n].step += chunk;
}

/// One chunk of the second phase of one group.
template <class S>
HWY_NOINLINE void mixed_adjoint(const AdjointJob<S>& job, Group<S>& group, const double* sums) {
  double* columns = job.columns + group.step * S::columns * n_lanes;
  mixed_chunk(job.order, group, [&](std::int64_t step, const Vec* within) HWY_ATTR {
    for (int o = 0; o < S::sums; ++o) {
      double* target = columns + (step * S::columns + S::column(o)) * n_lanes;
      Vec total = hn::Zero(Lanes());
      for (int v = 0; v < group_vectors; ++v) {
        const Vec input = hn::LoadU(Lanes(), sums + o * job.stride + v * n_lanes);
        total = hn::MulAdd(within[S::function(o) * group_vectors + v], input, total);
      }
      if (S::alternates(o) && step % 2 != 0) total = hn::Neg(total);
      put(hn::Add(at(target, 0), total), target, 0);
    }
  });
}

/// All degrees of one block of at most block_groups groups.
template <class S>
void adjoint_block(const AdjointJob<S>& job, Group<S>* groups, int n_groups) {
  std::int64_t step = job.order.n_steps;
  for (int n = 0; n < n_groups; ++n) step = HWY_MIN(step, groups[n].step);
  for (; step < job.order.n_steps; step += chunk) {
    int first_steady = n_groups;
    while (first_steady > 0 && groups[first_steady - 1].steady && groups[first_steady - 1].step == step) {
      --first_steady;
    }
    for (int n = 0; n < first_steady; ++n) {
      if (groups[n].step == step) mixed_adjoint(job, groups[n], job.sums + n * group_pairs);
    }
    if (first_steady < n_groups) steady_adjoint(job, groups, first_steady, n_groups, step);
  }
}

/// Sums lanes in place: [i][lane] -> [i].
inline void add_lanes(double* values, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    values[i] = hn::GetLane(hn::SumOfLanes(Lanes(), hn::Load(Lanes(), values + i * n_lanes)));
  }
}

template <class S>
void adjoint_shape(const Pairs& pairs, const Order& order, const double* sums, std::int64_t stride, double* columns) {
  const std::int64_t n_values = order.n_steps * S::columns;
  for (std::int64_t i = 0; i < n_values; ++i) hn::Store(hn::Zero(Lanes()), Lanes(), columns + i * n_lanes);
  Group<S> groups[block_groups];
  std::int64_t first = order.first_pair / n_lanes * n_lanes;
  while (first < pairs.count) {
    const AdjointJob<S> job{order, sums + first, stride, columns};
    int n_groups = 0;
    for (; n_groups < block_groups && first < pairs.count; ++n_groups, first += group_pairs) {
      seed_group(pairs, order, first, groups[n_groups]);
      seek(order, groups[n_groups]);
    }
    adjoint_block(job, groups, n_groups);
  }
  add_lanes(columns, n_values);
}

}  // namespace ringweave::sweep::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
