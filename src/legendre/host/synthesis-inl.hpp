// SPDX-License-Identifier: GPL-3.0-or-later
// Compiled once for every instruction set: the guard is toggled by hwy/foreach_target.h.
#if defined(RINGWEAVE_LEGENDRE_HOST_SYNTHESIS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef RINGWEAVE_LEGENDRE_HOST_SYNTHESIS_INL
#undef RINGWEAVE_LEGENDRE_HOST_SYNTHESIS_INL
#else
#define RINGWEAVE_LEGENDRE_HOST_SYNTHESIS_INL
#endif

#include "legendre/host/sweep-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ringweave::sweep::HWY_NAMESPACE {

template <class S>
struct SynthesisJob {
  const Order& order;
  const double* columns;
  double* sums;  ///< at the group's first pair
  std::int64_t stride;
};

/// One step of the third phase for vectors in registers. `previous` becomes the next value.
template <class S, int Vectors, bool Odd>
HWY_INLINE void synthesis_step(const double* HWY_RESTRICT c, const double* HWY_RESTRICT g,
                               const double* HWY_RESTRICT column, const Vec* x, Vec* previous, const Vec* current,
                               Vec* sum) {
#pragma GCC unroll 8
  for (int o = 0; o < S::sums; ++o) {
    const Vec factor = all(column[S::column(o)]);
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) {
      const Vec p = current[S::function(o) * Vectors + v];
      Vec& target = sum[o * Vectors + v];
      target = Odd && S::alternates(o) ? hn::NegMulAdd(p, factor, target) : hn::MulAdd(p, factor, target);
    }
  }
  const Vec a = all(c[0]);
#pragma GCC unroll 2
  for (int f = 0; f < S::functions; ++f) {
    const Vec constant = all(g[f]);
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) {
      const int i = f * Vectors + v;
      previous[i] = hn::MulAdd(hn::MulAdd(a, x[v], constant), current[i], previous[i]);
    }
  }
}

/// Third phase to the last step, for the vectors [first, first + Vectors) of the group.
template <class S, int Vectors>
HWY_NOINLINE void steady_synthesis(const SynthesisJob<S>& job, const Group<S>& group, int first) {
  Vecs<Vectors> x;
  Vecs<S::functions * Vectors> previous;
  Vecs<S::functions * Vectors> current;
  Vecs<S::sums * Vectors> sum;
#pragma GCC unroll 4
  for (int v = 0; v < Vectors; ++v) x[v] = at(group.x, first + v);
#pragma GCC unroll 8
  for (int i = 0; i < S::functions * Vectors; ++i) {
    const int lane = (i / Vectors) * group_vectors + first + i % Vectors;
    previous[i] = at(group.previous, lane);
    current[i] = at(group.current, lane);
  }
#pragma GCC unroll 32
  for (int i = 0; i < S::sums * Vectors; ++i) {
    sum[i] = hn::LoadU(Lanes(), job.sums + (i / Vectors) * job.stride + (first + i % Vectors) * n_lanes);
  }
  constexpr std::int64_t stride = coefficient_stride(S::functions);
  const double* HWY_RESTRICT c = job.order.coefficients + group.step * stride;
  const double* HWY_RESTRICT g = c + group.g_offset;
  const double* HWY_RESTRICT column = job.columns + group.step * S::columns;
  for (std::int64_t k = group.step; k < job.order.n_steps; k += 2) {
    synthesis_step<S, Vectors, false>(c, g, column, x, previous, current, sum);
    synthesis_step<S, Vectors, true>(c + stride, g + stride, column + S::columns, x, current, previous, sum);
    c += 2 * stride;
    g += 2 * stride;
    column += 2 * S::columns;
  }
#pragma GCC unroll 32
  for (int i = 0; i < S::sums * Vectors; ++i) {
    hn::StoreU(sum[i], Lanes(), job.sums + (i / Vectors) * job.stride + (first + i % Vectors) * n_lanes);
  }
}

/// Adds one chunk of the second phase to the sums.
template <class S>
HWY_NOINLINE void mixed_synthesis(const SynthesisJob<S>& job, Group<S>& group) {
  const double* columns = job.columns + group.step * S::columns;
  mixed_chunk(job.order, group, [&](std::int64_t step, const Vec* within) HWY_ATTR {
    const double* column = columns + step * S::columns;
    for (int o = 0; o < S::sums; ++o) {
      const Vec factor = all(S::alternates(o) && step % 2 != 0 ? -column[S::column(o)] : column[S::column(o)]);
      for (int v = 0; v < group_vectors; ++v) {
        double* target = job.sums + o * job.stride + v * n_lanes;
        const Vec p = within[S::function(o) * group_vectors + v];
        hn::StoreU(hn::MulAdd(p, factor, hn::LoadU(Lanes(), target)), Lanes(), target);
      }
    }
  });
}

/// Vectors of the third phase whose recurrences and sums fit the registers together.
template <class S>
constexpr int vectors_in_registers() {
  constexpr int each = 1 + 2 * S::functions + S::sums;
  return 4 * each <= n_registers - 2 ? 4 : 2 * each <= n_registers - 2 ? 2 : 1;
}

template <class S>
void synthesize_shape(const Pairs& pairs, const Order& order, const double* columns, double* sums,
                      std::int64_t stride) {
  Group<S> group;
  for (std::int64_t first = order.first_pair / n_lanes * n_lanes; first < pairs.count; first += group_pairs) {
    const SynthesisJob<S> job{order, columns, sums + first, stride};
    for (int o = 0; o < S::sums; ++o) {
      for (int v = 0; v < group_vectors; ++v) {
        hn::StoreU(hn::Zero(Lanes()), Lanes(), job.sums + o * stride + v * n_lanes);
      }
    }
    seed_group(pairs, order, first, group);
    seek(order, group);
    while (group.step < order.n_steps && !group.steady) mixed_synthesis(job, group);
    if (group.step == order.n_steps) continue;
    constexpr int vectors = vectors_in_registers<S>();
    for (int v = 0; v < group_vectors; v += vectors) steady_synthesis<S, vectors>(job, group, v);
  }
}

}  // namespace ringweave::sweep::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
