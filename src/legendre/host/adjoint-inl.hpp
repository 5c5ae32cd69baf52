// SPDX-License-Identifier: GPL-3.0-or-later
// Compiled once per instruction set: hwy/foreach_target.h toggles the guard.
#if defined(RINGWEAVE_LEGENDRE_HOST_ADJOINT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef RINGWEAVE_LEGENDRE_HOST_ADJOINT_INL
#undef RINGWEAVE_LEGENDRE_HOST_ADJOINT_INL
#else
#define RINGWEAVE_LEGENDRE_HOST_ADJOINT_INL
#endif

#include <algorithm>

#include "legendre/host/sweep-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ringweave::detail::inline legendre::sweep::HWY_NAMESPACE {

// A block of groups stays in the L1 cache for block_steps steps, enough to amortize loading it. The
// sums over its pairs are loaded and stored once per chunk and block.
constexpr std::size_t block_bytes = 28 << 10;
constexpr std::int64_t block_steps = 32;

/// A group together with its inputs.
template <class S>
struct AdjointGroup {
  Group<S> functions;
  const double* sums;                               // of the group's first pair
  HWY_ALIGN LaneArray<S::sums * S::vectors> input;  // [sum][vector], 0 in lanes below range
};

template <class S>
constexpr int block_groups = static_cast<int>(block_bytes / sizeof(AdjointGroup<S>));

/// State of the columns before a job.
enum class ColumnState { empty, in_use };

/// Steps [begin, end) to sum. One column of one step, summed over pairs but not over lanes, is at
/// columns + ((step - begin) * S::columns + column) * lanes.
template <class S>
struct AdjointJob {
  const Order& order;
  std::int64_t begin;
  std::int64_t end;
  double* columns;
  ColumnState before;   ///< state of the columns before the job
  std::int64_t stride;  ///< between sums in the input
  double* at_step(std::int64_t step) const {
    return columns + (step - begin) * S::columns * n_lanes;
  }
};

/// Computes sum += a b with both factors in registers. Otherwise gcc reads a factor from memory at
/// each use, and with several maps the sums then wait for the load ports.
template <class V>
HWY_INLINE void add_product(V& sum, V a, V b) {
  if constexpr (HWY_TARGET <= HWY_AVX2) {
    asm("vfmadd231pd %2, %1, %0" : "+v"(sum.raw) : "v"(a.raw), "v"(b.raw));
  } else {
    sum = hn::MulAdd(a, b, sum);
  }
}

/// Returns the number of steps whose sums over pairs fit in registers.
template <class S>
constexpr int steps_in_registers() {
  constexpr int registers = n_registers * 3 / 4;
  return 4 * S::columns <= registers ? 4 : 2 * S::columns <= registers ? 2 : 1;
}

/// Second and third phase: sums `Steps` steps from `step` on over those of the groups [first_group,
/// n_groups) of a block that have reached the current chunk.
template <class S, int Steps>
HWY_INLINE void sum_steps(const AdjointJob<S>& job, AdjointGroup<S>* groups, int first_group,
                          int n_groups, std::int64_t chunk_begin, std::int64_t step) {
  constexpr std::int64_t stride = S::stride;
  const double* HWY_RESTRICT c = job.order.coefficients + step * stride;
  const double* HWY_RESTRICT g = c + groups[first_group].functions.g_offset;  // equal in a block
  Vecs<Steps> a;
  Vecs<Steps * S::functions> constant;
#pragma GCC unroll 4
  for (int t = 0; t < Steps; ++t) {
    a[t] = all(c[t * stride]);
#pragma GCC unroll 2
    for (int f = 0; f < S::functions; ++f) constant[t * S::functions + f] = all(g[t * stride + f]);
  }
  // Continue the sums of the previous block pair by pair: block sizes differ with the number of
  // maps, and the result for a map must not depend on the other maps.
  double* target = job.at_step(step);
  Vecs<Steps * S::columns> total;
  if (job.before == ColumnState::in_use) {
#pragma GCC unroll 32
    for (int i = 0; i < Steps * S::columns; ++i) total[i] = at(target, i);
  } else {
#pragma GCC unroll 32
    for (int i = 0; i < Steps * S::columns; ++i) total[i] = hn::Zero(Lanes());
  }
  for (int n = first_group; n < n_groups; ++n) {
    Group<S>& group = groups[n].functions;
    if (HWY_UNLIKELY(group.step != chunk_begin)) continue;
    for (int v = 0; v < S::vectors; ++v) {
      const Vec x = at(group.x, v);
      Vecs<S::functions> previous;
      Vecs<S::functions> current;
#pragma GCC unroll 2
      for (int f = 0; f < S::functions; ++f) {
        previous[f] = at(group.previous, f * S::vectors + v);
        current[f] = at(group.current, f * S::vectors + v);
      }
      // Compute all functions first, so that every input is loaded once.
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
          Vec& sum = total[t * S::columns + o % S::columns];
          const Vec value = p[t * S::functions + S::function(o)];
          if (S::alternates(o) && odd) {
            sum = hn::NegMulAdd(value, input, sum);
          } else {
            add_product(sum, value, input);
          }
        }
      }
#pragma GCC unroll 2
      for (int f = 0; f < S::functions; ++f) {
        put(previous[f], group.previous, f * S::vectors + v);
        put(current[f], group.current, f * S::vectors + v);
      }
    }
  }
#pragma GCC unroll 32
  for (int i = 0; i < Steps * S::columns; ++i) put(total[i], target, i);
}

/// Sums one chunk.
template <class S>
HWY_NOINLINE void sum_chunk(const AdjointJob<S>& job, AdjointGroup<S>* groups, int first_group,
                            int n_groups, std::int64_t step) {
  constexpr int steps = steps_in_registers<S>();
  static_assert(S::columns == S::sums || steps % 2 == 0, "parities change within one call");
  for (std::int64_t t = 0; t < chunk; t += steps) {
    sum_steps<S, steps>(job, groups, first_group, n_groups, step, step + t);
  }
  for (int n = first_group; n < n_groups; ++n) {
    if (groups[n].functions.step == step) groups[n].functions.step += chunk;
  }
}

template <class S>
HWY_INLINE void clear_chunk(double* columns) {
#pragma GCC unroll 4
  for (int i = 0; i < chunk * S::columns; ++i) put(hn::Zero(Lanes()), columns, i);
}

/// Loads the inputs of the lanes within range.
template <class S>
void load_input(AdjointGroup<S>& group, std::int64_t stride) {
  for (int o = 0; o < S::sums; ++o) {
    for (int v = 0; v < S::vectors; ++v) {
      const Vec scale = at(group.functions.scale, S::function(o) * S::vectors + v);
      const Vec input = hn::LoadU(Lanes(), group.sums + o * stride + v * n_lanes);
      put(hn::IfThenElseZero(hn::Eq(scale, hn::Zero(Lanes())), input), group.input,
          o * S::vectors + v);
    }
  }
}

/// Rescales lanes before a chunk of the second phase, in which some lanes are below range and some
/// may come into it.
template <class S>
void lift_lanes(AdjointGroup<S>& group, std::int64_t stride) {
  constexpr int values = Group<S>::values;
  Vec largest = hn::Zero(Lanes());
  for (int i = 0; i < values; ++i) {
    largest = hn::Max(largest, hn::Abs(at(group.functions.current, i)));
  }
  if (HWY_LIKELY(hn::AllFalse(Lanes(), hn::Gt(largest, all(near_the_range))))) return;
  Running<S, S::vectors> run;
  run.load(group.functions, 0);
  for (int i = 0; i < values; ++i) {
    lift(hn::Gt(hn::Abs(run.current[i]), all(near_the_range)), run.previous[i], run.current[i],
         run.scale[i]);
  }
  run.store(group.functions);
  load_input(group, stride);
  group.functions.steady = all_in_range<values>(run.scale);
}

/// Prefetches memory in parts, one per chunk of degrees.
class Fetching {
 public:
  Fetching(std::span<const PrefetchRange> wanted, std::int64_t n_chunks) : wanted_(wanted) {
    std::int64_t bytes = 0;
    for (const PrefetchRange& part : wanted) bytes += part.end - part.begin;
    step_ = (bytes / HWY_MAX(n_chunks, std::int64_t{1}) / line + 1) * line;
    if (!wanted_.empty()) at_ = wanted_.front().begin;
  }
  HWY_INLINE void advance() {
    if (wanted_.empty()) return;
    const char* stop = HWY_MIN(wanted_.front().end, at_ + step_);
    for (; at_ < stop; at_ += line) __builtin_prefetch(at_, 0, 2);
    if (at_ < wanted_.front().end) return;
    wanted_ = wanted_.subspan(1);
    if (!wanted_.empty()) at_ = wanted_.front().begin;
  }

 private:
  static constexpr std::int64_t line = 64;
  std::span<const PrefetchRange> wanted_;
  const char* at_ = nullptr;
  std::int64_t step_;
};

/// Sums the degrees of a job for one block of at most block_groups groups.
template <class S>
void adjoint_block(const AdjointJob<S>& job, AdjointGroup<S>* groups, int n_groups,
                   Fetching& fetching) {
  for (std::int64_t step = job.begin; step < job.end; step += chunk) {
    fetching.advance();
    int first = n_groups;
    for (int n = n_groups - 1; n >= 0; --n) {
      if (groups[n].functions.step != step) continue;
      first = n;
      if (!groups[n].functions.steady) lift_lanes(groups[n], job.stride);
    }
    if (first < n_groups) {
      sum_chunk(job, groups, first, n_groups, step);
    } else if (job.before == ColumnState::empty) {
      clear_chunk<S>(job.at_step(step));
    }
  }
}

// Shuffles are called unqualified, because the one-lane target does not have them; this code is not
// instantiated there.
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

/// Returns a vector whose lane i is the sum over the lanes of v[i]; `v` has as many vectors as
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

/// Sums over lanes, [i][lane] -> [i]. `count` is a multiple of the number of lanes.
inline void add_lanes(const double* values, double* sums, std::int64_t count) {
  for (std::int64_t i = 0; i < count; i += n_lanes) {
    Vecs<static_cast<int>(n_lanes)> v;
#pragma GCC unroll 8
    for (int k = 0; k < n_lanes; ++k) v[k] = at(values + i * n_lanes, k);
    hn::StoreU(lane_sums<static_cast<int>(n_lanes)>(Lanes(), v), Lanes(), sums + i);
  }
}

/// Sets first values and inputs of the groups of all pairs; returns the number of groups.
template <class S>
std::int64_t begin_groups(const Pairs& pairs, const Order& order, const double* sums,
                          std::int64_t stride, AdjointGroup<S>* groups) {
  std::int64_t n = 0;
  for (std::int64_t first = first_of_groups<S>(order); first < pairs.count;
       first += group_pairs<S>, ++n) {
    AdjointGroup<S>& group = *new (groups + n) AdjointGroup<S>;
    seed_group(pairs, order, first, variable_at(pairs, first), group.functions);
    seek(order, group.functions);
    group.sums = sums + first;
    load_input(group, stride);
  }
  return n;
}

/// Returns the number of groups in the next block: of one variable, at most block_groups.
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
                   double* columns, void* scratch, std::span<const PrefetchRange> wanted) {
  static_assert(block_steps % chunk == 0 && chunk * S::columns % n_lanes == 0);
  auto* groups = static_cast<AdjointGroup<S>*>(scratch);
  const std::int64_t n_groups = begin_groups(pairs, order, sums, stride, groups);
  if (n_groups == 0) {
    std::fill_n(columns, order.n_steps * S::columns, 0.0);
    return;
  }
  Fetching fetching(wanted, order.n_steps / chunk);
  HWY_ALIGN LaneArray<block_steps * S::columns> sums_of_lanes;
  for (std::int64_t begin = 0; begin < order.n_steps; begin += block_steps) {
    const std::int64_t end = HWY_MIN(begin + block_steps, order.n_steps);
    for (std::int64_t n = 0; n < n_groups;) {
      const ColumnState before = n == 0 ? ColumnState::empty : ColumnState::in_use;
      const AdjointJob<S> job{order, begin, end, sums_of_lanes, before, stride};
      const int size = block_size(groups + n, n_groups - n);
      adjoint_block(job, groups + n, size, fetching);
      n += size;
    }
    add_lanes(sums_of_lanes, columns + begin * S::columns, (end - begin) * S::columns);
  }
}

}  // namespace ringweave::detail::inline legendre::sweep::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
