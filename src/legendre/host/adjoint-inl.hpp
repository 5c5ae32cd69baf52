// SPDX-License-Identifier: GPL-3.0-or-later
// Compiled once for every instruction set: the guard is toggled by hwy/foreach_target.h.
#if defined(RINGWEAVE_LEGENDRE_HOST_ADJOINT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef RINGWEAVE_LEGENDRE_HOST_ADJOINT_INL
#undef RINGWEAVE_LEGENDRE_HOST_ADJOINT_INL
#else
#define RINGWEAVE_LEGENDRE_HOST_ADJOINT_INL
#endif

#include <algorithm>

#include "legendre/host/sweep-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ringweave::sweep::HWY_NAMESPACE {

// A block of groups stays in the first-level cache while some degrees run, and so do the sums over
// their pairs, which are loaded and stored once per chunk and block.
constexpr std::size_t block_bytes = 28 << 10;
constexpr int block_columns = 128;

/// A group with what it is multiplied by, at hand.
template <class S>
struct AdjointGroup {
  Group<S> functions;
  HWY_ALIGN LaneArray<S::sums * S::vectors> input;  // [sum][vector]
};

template <class S>
constexpr int block_groups = static_cast<int>(block_bytes / sizeof(AdjointGroup<S>));

/// Whether what columns hold counts.
enum class Columns { empty, in_use };

/// Steps [begin, end). One column of one step, summed over pairs but not over lanes, lies at
/// columns + ((step - begin) * S::columns + column) * lanes.
template <class S>
struct AdjointJob {
  const Order& order;
  std::int64_t begin;
  std::int64_t end;
  double* columns;
  Columns before;  ///< the job
  double* at_step(std::int64_t step) const {
    return columns + (step - begin) * S::columns * n_lanes;
  }
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
                             int n_groups, std::int64_t step, Columns before) {
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
    for (int v = 0; v < S::vectors; ++v) {
      const Vec x = at(group.x, v);
      Vecs<S::functions> previous;
      Vecs<S::functions> current;
#pragma GCC unroll 2
      for (int f = 0; f < S::functions; ++f) {
        previous[f] = at(group.previous, f * S::vectors + v);
        current[f] = at(group.current, f * S::vectors + v);
      }
      // All functions first, so that every input is loaded once.
      Vecs<Steps * S::functions> p;
#pragma GCC unroll 4
      for (int t = 0; t < Steps; ++t) {
#pragma GCC unroll 2
        for (int f = 0; f < S::functions; ++f) {
          p[t * S::functions + f] = current[f];
          const Vec factor = hn::MulAdd(a[t], x, constant[t * S::functions + f]);
          const Vec next = hn::MulAdd(factor, current[f], previous[f]);
          previous[f] = current[f];
          current[f] = next;
        }
      }
#pragma GCC unroll 16
      for (int o = 0; o < S::sums; ++o) {
        const Vec input = at(groups[n].input, o * S::vectors + v);
#pragma GCC unroll 4
        for (int t = 0; t < Steps; ++t) {
          const bool odd = t % 2 != 0;
          if (!S::counts(o, odd)) continue;
          Vec& target = total[t * S::columns + o % S::columns];
          const Vec value = p[t * S::functions + S::function(o)];
          target = S::alternates(o) && odd ? hn::NegMulAdd(value, input, target)
                                           : hn::MulAdd(value, input, target);
        }
      }
#pragma GCC unroll 2
      for (int f = 0; f < S::functions; ++f) {
        put(previous[f], group.previous, f * S::vectors + v);
        put(current[f], group.current, f * S::vectors + v);
      }
    }
  }
  double* target = job.at_step(step);
  if (before == Columns::in_use) {
#pragma GCC unroll 32
    for (int i = 0; i < Steps * S::columns; ++i) total[i] = hn::Add(at(target, i), total[i]);
  }
#pragma GCC unroll 32
  for (int i = 0; i < Steps * S::columns; ++i) put(total[i], target, i);
}

template <class S>
HWY_NOINLINE void steady_adjoint(const AdjointJob<S>& job, AdjointGroup<S>* groups, int first_group,
                                 int n_groups, std::int64_t step, Columns before) {
  constexpr int steps = steps_in_registers<S>();
  static_assert(S::columns == S::sums || steps % 2 == 0, "parities change within one call");
  for (std::int64_t t = 0; t < chunk; t += steps) {
    steady_steps<S, steps>(job, groups, first_group, n_groups, step + t, before);
  }
  for (int n = first_group; n < n_groups; ++n) groups[n].functions.step += chunk;
}

/// Adds one step of a group, the lanes that are within range, to the columns.
template <class S, bool Odd>
HWY_INLINE void accumulate_within(const AdjointGroup<S>& group, const Vec* p,
                                  const hn::Mask<Lanes>* within, double* columns) {
  constexpr int values = Group<S>::values;
  Vecs<values> counting;
#pragma GCC unroll 8
  for (int i = 0; i < values; ++i) counting[i] = hn::IfThenElseZero(within[i], p[i]);
#pragma GCC unroll 16
  for (int column = 0; column < S::columns; ++column) {
    Vec total = at(columns, column);
#pragma GCC unroll 16
    for (int o = column; o < S::sums; o += S::columns) {
      if (!S::counts(o, Odd)) continue;
#pragma GCC unroll 4
      for (int v = 0; v < S::vectors; ++v) {
        const Vec value = counting[S::function(o) * S::vectors + v];
        const Vec input = at(group.input, o * S::vectors + v);
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
  Running<S, S::vectors> run;
  run.load(functions, 0);
  constexpr int values = decltype(run)::values;
  constexpr std::int64_t stride = S::stride;
  const double* c = job.order.coefficients + functions.step * stride;
  const double* g = c + functions.g_offset;
  double* columns = job.at_step(functions.step);
  hn::Mask<Lanes> within[std::size_t{values}];
  mark_range(run, within);
  for (std::int64_t t = 0; t < chunk; t += 2) {
    accumulate_within<S, false>(group, run.current, within, columns);
    advance<S::functions, S::vectors>(c, g, run.x, run.previous, run.current);
    accumulate_within<S, true>(group, run.previous, within, columns + S::columns * n_lanes);
    advance<S::functions, S::vectors>(c + stride, g + stride, run.x, run.current, run.previous);
    c += 2 * stride;
    g += 2 * stride;
    columns += 2 * S::columns * n_lanes;
  }
  run.store(functions);
  functions.step += chunk;
  functions.steady = all_in_range<values>(run.scale);
}

template <class S>
HWY_INLINE void clear_chunk(double* columns) {
#pragma GCC unroll 4
  for (int i = 0; i < chunk * S::columns; ++i) put(hn::Zero(Lanes()), columns, i);
}

/// The degrees of a job of one block of at most block_groups groups.
template <class S>
void adjoint_block(const AdjointJob<S>& job, AdjointGroup<S>* groups, int n_groups) {
  const auto ready = [&](int n, std::int64_t step) { return groups[n].functions.step == step; };
  int first_steady = n_groups;
  for (std::int64_t step = job.begin; step < job.end; step += chunk) {
    while (first_steady > 0 && groups[first_steady - 1].functions.steady &&
           ready(first_steady - 1, step)) {
      --first_steady;
    }
    Columns columns = job.before;
    const auto use_columns = [&]() HWY_ATTR {
      if (columns == Columns::empty) clear_chunk<S>(job.at_step(step));
      columns = Columns::in_use;
    };
    for (int n = 0; n < first_steady; ++n) {
      if (!ready(n, step)) continue;
      use_columns();
      mixed_adjoint(job, groups[n]);
    }
    if (first_steady < n_groups) {
      steady_adjoint(job, groups, first_steady, n_groups, step, columns);
    } else {
      use_columns();
    }
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

/// Sums lanes, [i][lane] -> [i]. `count` is a multiple of the lanes.
inline void add_lanes(const double* values, double* sums, std::int64_t count) {
  for (std::int64_t i = 0; i < count; i += n_lanes) {
    Vecs<static_cast<int>(n_lanes)> v;
#pragma GCC unroll 8
    for (int k = 0; k < n_lanes; ++k) v[k] = at(values + i * n_lanes, k);
    hn::StoreU(lane_sums<static_cast<int>(n_lanes)>(Lanes(), v), Lanes(), sums + i);
  }
}

/// First values and inputs of the groups of all pairs; returns their number.
template <class S>
std::int64_t begin_groups(const Pairs& pairs, const Order& order, const double* sums,
                          std::int64_t stride, AdjointGroup<S>* groups) {
  std::int64_t n = 0;
  for (std::int64_t first = order.first_pair / n_lanes * n_lanes; first < pairs.count;
       first += group_pairs<S>, ++n) {
    AdjointGroup<S>& group = *new (groups + n) AdjointGroup<S>;
    seed_group(pairs, order, first, variable_at(pairs, first), group.functions);
    seek(order, group.functions);
    for (int o = 0; o < S::sums; ++o) {
      for (int v = 0; v < S::vectors; ++v) {
        put(hn::LoadU(Lanes(), sums + o * stride + first + v * n_lanes), group.input,
            o * S::vectors + v);
      }
    }
  }
  return n;
}

/// How many of the groups make a block: those of one variable, at most block_groups.
template <class S>
int block_size(const AdjointGroup<S>* groups, std::int64_t n_groups) {
  int size = 1;
  while (size < block_groups<S> && size < n_groups &&
         groups[size].functions.g_offset == groups[0].functions.g_offset) {
    ++size;
  }
  return size;
}

template <class S>
void adjoint_shape(const Pairs& pairs, const Order& order, const double* sums, std::int64_t stride,
                   double* columns, void* scratch) {
  constexpr std::int64_t block_steps = block_columns / S::columns / chunk * chunk;
  static_assert(chunk * S::columns % n_lanes == 0);
  auto* groups = static_cast<AdjointGroup<S>*>(scratch);
  const std::int64_t n_groups = begin_groups(pairs, order, sums, stride, groups);
  if (n_groups == 0) {
    std::fill_n(columns, order.n_steps * S::columns, 0.0);
    return;
  }
  HWY_ALIGN LaneArray<block_steps * S::columns> sums_of_lanes;
  for (std::int64_t begin = 0; begin < order.n_steps; begin += block_steps) {
    const std::int64_t end = HWY_MIN(begin + block_steps, order.n_steps);
    for (std::int64_t n = 0; n < n_groups;) {
      const Columns before = n == 0 ? Columns::empty : Columns::in_use;
      const AdjointJob<S> job{order, begin, end, sums_of_lanes, before};
      const int size = block_size(groups + n, n_groups - n);
      adjoint_block(job, groups + n, size);
      n += size;
    }
    add_lanes(sums_of_lanes, columns + begin * S::columns, (end - begin) * S::columns);
  }
}

}  // namespace ringweave::sweep::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
