// SPDX-License-Identifier: GPL-3.0-or-later
// Compiled once per instruction set: hwy/foreach_target.h toggles the guard.
#if defined(RINGWEAVE_LEGENDRE_HOST_SYNTHESIS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef RINGWEAVE_LEGENDRE_HOST_SYNTHESIS_INL
#undef RINGWEAVE_LEGENDRE_HOST_SYNTHESIS_INL
#else
#define RINGWEAVE_LEGENDRE_HOST_SYNTHESIS_INL
#endif

#include "legendre/host/sweep-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ringweave::detail::inline legendre::sweep::HWY_NAMESPACE {

template <class S>
struct SynthesisJob {
  const Order& order;
  const double* columns;
  double* sums;  ///< at the group's first pair
  std::int64_t stride;
};

/// Adds one step to the sums of vectors in registers.
template <class S, int Vectors, bool Odd>
HWY_INLINE void accumulate(const double* HWY_RESTRICT column, const Vec* p, Vec* sum) {
#pragma GCC unroll 16
  for (int o = 0; o < S::sums; ++o) {
    if (!S::counts(o, Odd)) continue;
    const Vec factor = all(column[o % S::columns]);
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) {
      const Vec value = p[S::function(o) * Vectors + v];
      Vec& target = sum[o * Vectors + v];
      target = Odd && S::alternates(o) ? hn::NegMulAdd(value, factor, target)
                                       : hn::MulAdd(value, factor, target);
    }
  }
}

/// Adds one step to the sums of the lanes within range.
template <class S, int Vectors, bool Odd>
HWY_INLINE void accumulate_within(const double* HWY_RESTRICT column, const Vec* p,
                                  const hn::Mask<Lanes>* within, Vec* sum) {
  constexpr int values = Running<S, Vectors>::values;
  Vecs<values> counting;
#pragma GCC unroll 8
  for (int i = 0; i < values; ++i) counting[i] = hn::IfThenElseZero(within[i], p[i]);
  accumulate<S, Vectors, Odd>(column, counting, sum);
}

/// Rescales lanes that come into range before a chunk of the second phase; marks the lanes that
/// contribute.
template <class S, int Vectors>
HWY_INLINE void mark_range(Running<S, Vectors>& run, hn::Mask<Lanes>* within) {
#pragma GCC unroll 8
  for (int i = 0; i < Running<S, Vectors>::values; ++i) {
    const auto big = hn::Gt(hn::Abs(run.current[i]), all(near_the_range));
    if (HWY_UNLIKELY(!hn::AllFalse(Lanes(), big))) {
      lift(big, run.previous[i], run.current[i], run.scale[i]);
    }
    within[i] = hn::Eq(run.scale[i], hn::Zero(Lanes()));
  }
}

/// Second and third phase for the vectors [first, first + Vectors) of a group: some, then all lanes
/// are within range.
template <class S, int Vectors>
HWY_NOINLINE void sum_degrees(const SynthesisJob<S>& job, const Group<S>& group, int first) {
  Running<S, Vectors> run;
  run.load(group, first);
  constexpr int values = Running<S, Vectors>::values;
  Vecs<S::sums * Vectors> sum;
#pragma GCC unroll 32
  for (int i = 0; i < S::sums * Vectors; ++i) sum[i] = hn::Zero(Lanes());

  constexpr std::int64_t stride = S::stride;
  const std::int64_t n_steps = job.order.n_steps;
  const double* HWY_RESTRICT c = job.order.coefficients + group.step * stride;
  const double* HWY_RESTRICT g = c + group.g_offset;
  const double* HWY_RESTRICT column = job.columns + group.step * S::columns;
  std::int64_t k = group.step;
  const auto next_two_steps = [&]() HWY_ATTR {
    k += 2;
    c += 2 * stride;
    g += 2 * stride;
    column += 2 * S::columns;
  };
  while (k < n_steps && !all_in_range<values>(run.scale)) {
    hn::Mask<Lanes> within[std::size_t{values}];
    mark_range(run, within);
    for (std::int64_t t = 0; t < chunk; t += 2) {
      accumulate_within<S, Vectors, false>(column, run.current, within, sum);
      advance<S::functions, Vectors>(c, g, run.x, run.previous, run.current);
      accumulate_within<S, Vectors, true>(column + S::columns, run.previous, within, sum);
      advance<S::functions, Vectors>(c + stride, g + stride, run.x, run.current, run.previous);
      next_two_steps();
    }
  }
  while (k < n_steps) {
    accumulate<S, Vectors, false>(column, run.current, sum);
    advance<S::functions, Vectors>(c, g, run.x, run.previous, run.current);
    accumulate<S, Vectors, true>(column + S::columns, run.previous, sum);
    advance<S::functions, Vectors>(c + stride, g + stride, run.x, run.current, run.previous);
    next_two_steps();
  }
#pragma GCC unroll 32
  for (int i = 0; i < S::sums * Vectors; ++i) {
    hn::StoreU(sum[i], Lanes(),
               job.sums + (i / Vectors) * job.stride + (first + i % Vectors) * n_lanes);
  }
}

/// Returns the number of vectors whose recurrences and sums fit in registers together.
template <class S>
constexpr int vectors_in_registers() {
  constexpr int each = 1 + 2 * S::functions + S::sums;
  constexpr int fit = 4 * each <= n_registers - 2 ? 4 : 2 * each <= n_registers - 2 ? 2 : 1;
  return HWY_MIN(fit, S::vectors);
}

template <class S>
void synthesize_shape(const Pairs& pairs, const Order& order, const double* columns, double* sums,
                      std::int64_t stride) {
  Group<S> group;
  for (std::int64_t first = first_of_groups<S>(order); first < pairs.count;
       first += group_pairs<S>) {
    const SynthesisJob<S> job{order, columns, sums + first, stride};
    seed_group(pairs, order, first, variable_at(pairs, first), group);
    seek(order, group);
    constexpr int vectors = vectors_in_registers<S>();
    for (int v = 0; v < S::vectors; v += vectors) sum_degrees<S, vectors>(job, group, v);
  }
}

}  // namespace ringweave::detail::inline legendre::sweep::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
