// SPDX-License-Identifier: GPL-3.0-or-later
// Compiled once per instruction set: hwy/foreach_target.h toggles the guard.
#if defined(RINGWEAVE_LEGENDRE_HOST_SWEEP_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef RINGWEAVE_LEGENDRE_HOST_SWEEP_INL
#undef RINGWEAVE_LEGENDRE_HOST_SWEEP_INL
#else
#define RINGWEAVE_LEGENDRE_HOST_SWEEP_INL
#endif

#include <array>
#include <new>
#include <numbers>

#include "hwy/highway.h"
#include "legendre/host/sweep.hpp"

HWY_BEFORE_NAMESPACE();
namespace ringweave::detail::inline legendre::sweep::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Lanes = hn::ScalableTag<double>;
using Vec = hn::Vec<Lanes>;
// Fixed numbers of vectors, in registers and in memory.
template <int N>
using Vecs = Vec[std::size_t{N}];
constexpr std::int64_t n_lanes = static_cast<std::int64_t>(hn::MaxLanes(Lanes()));
constexpr int n_registers = n_lanes >= 8 ? 32 : 16;

// A value is p * 2^(800 scale) with scale <= 0; below 2^-60 it does not contribute. A value grows
// by less than 2^80 per chunk, so p is rescaled before a chunk if it is above 2^660.
constexpr double scale_bits = 800;
constexpr double tiny_bits = 60;
constexpr double two_to_minus_800 = 0x1p-800;
constexpr double near_the_range = 0x1p660;

template <int N>
using LaneArray = double[std::size_t{N} * std::size_t{n_lanes}];

/// Ring pairs per group.
template <class S>
constexpr std::int64_t group_pairs = S::vectors* n_lanes;

/// sweep::Shape as a type, for groups of several vectors. Sum o is function(o) times column o %
/// columns, over the steps for which count(o, parity of the step) holds; alternating sums change
/// sign with the parity.
template <int Maps>
struct ScalarsByTwo {
  static constexpr std::int64_t stride = stride_by_two;
  static constexpr int vectors = max_group_vectors;
  static constexpr int functions = 1;
  static constexpr int columns = 4 * Maps;
  static constexpr int sums = 4 * Maps;
  static constexpr int function(int) { return 0; }
  static constexpr bool counts(int, bool) { return true; }
  static constexpr bool alternates(int) { return false; }
};

template <int Maps>
struct ScalarsByOne {
  static constexpr std::int64_t stride = stride_by_one;
  static constexpr int vectors = 2;  // there are few pairs
  static constexpr int functions = 1;
  static constexpr int columns = 2 * Maps;
  static constexpr int sums = 4 * Maps;
  static constexpr int function(int) { return 0; }
  static constexpr bool counts(int sum, bool odd) { return (sum >= columns) == odd; }
  static constexpr bool alternates(int) { return false; }
};

struct SpinField {
  static constexpr std::int64_t stride = stride_by_one;
  static constexpr int vectors = max_group_vectors;
  static constexpr int functions = 2;
  static constexpr int columns = 4;
  static constexpr int sums = 8;
  static constexpr int function(int sum) { return (sum / 2 == 0 || sum / 2 == 3) ? 0 : 1; }
  static constexpr bool counts(int, bool) { return true; }
  static constexpr bool alternates(int sum) { return sum >= columns; }
};

/// Returns the first pair of the first group. Groups begin at multiples of their size, so that the
/// functions of a pair, to the last bit, and the order of sums do not depend on the pairs that an
/// order keeps.
template <class S>
std::int64_t first_of_groups(const Order& order) {
  return order.first_pair / group_pairs<S> * group_pairs<S>;
}

/// State of the recurrences of one group between two steps. Lane vectors in memory.
template <class S>
struct Group {
  static constexpr int values = S::functions * S::vectors;  // [function][vector]
  HWY_ALIGN LaneArray<S::vectors> x;
  HWY_ALIGN LaneArray<values> previous;
  HWY_ALIGN LaneArray<values> current;
  HWY_ALIGN LaneArray<values> scale;
  std::int64_t step = 0;
  std::int64_t g_offset;  // offset of g among the coefficients of a step
  bool steady = false;    // every lane of every function is within range
};

/// Returns the variable in which the pairs from `first` on lose least digits.
enum class Variable { from_pole, from_equator };
inline Variable variable_at(const Pairs& pairs, std::int64_t first) {
  return first < pairs.n_polar ? Variable::from_pole : Variable::from_equator;
}
/// Returns the offset of its g among the coefficients of a step.
template <class S>
constexpr std::int64_t g_offset(Variable variable) {
  return variable == Variable::from_pole ? 1 + S::stride / 2 : 1;
}

HWY_INLINE Vec at(const double* p, int vector) { return hn::Load(Lanes(), p + vector * n_lanes); }
HWY_INLINE void put(Vec v, double* p, int vector) { hn::Store(v, Lanes(), p + vector * n_lanes); }
HWY_INLINE Vec all(double value) { return hn::Set(Lanes(), value); }

constexpr int exp2_terms = 14;
/// Coefficients ln(2)^n / n! of 2^f; the truncation error is below 4e-18 for |f| <= 1/2.
constexpr std::array<double, exp2_terms> exp2_series = [] {
  std::array<double, exp2_terms> series{};
  long double term = 1;
  for (int n = 0; n < exp2_terms; ++n) {
    series[static_cast<unsigned>(n)] = static_cast<double>(term);
    term *= std::numbers::ln2_v<long double> / (n + 1);
  }
  return series;
}();

/// Returns 2^f for |f| <= 1/2.
HWY_INLINE Vec exp2_of_fraction(Vec f) {
  Vec sum = all(exp2_series[exp2_terms - 1]);
  for (int n = exp2_terms - 2; n >= 0; --n)
    sum = hn::MulAdd(sum, f, all(exp2_series[static_cast<unsigned>(n)]));
  return sum;
}

/// Returns 2^n for integers |n| < 1023.
HWY_INLINE Vec exp2_of_integer(Vec n) {
  const hn::Rebind<std::int64_t, Lanes> integers;
  const auto biased = hn::ConvertTo(integers, hn::Add(n, all(1023)));
  return hn::BitCast(Lanes(), hn::ShiftLeft<52>(biased));
}

/// sin(theta)^sin_power = value * 2^(800 scale) on the pairs from `first` on.
struct SinePower {
  Vec value;
  Vec scale;
};
HWY_INLINE SinePower sine_power(const Pairs& pairs, int sin_power, std::int64_t first) {
  const Vec power = all(sin_power);
  const Vec product = hn::Mul(power, hn::LoadU(Lanes(), pairs.log2_sin_high + first));
  const Vec exponent = hn::Round(product);
  const Vec fraction =
      hn::MulAdd(power, hn::LoadU(Lanes(), pairs.log2_sin_low + first), hn::Sub(product, exponent));
  const Vec scale = hn::Floor(hn::Mul(hn::Add(exponent, all(tiny_bits)), all(1 / scale_bits)));
  const Vec rest = hn::NegMulAdd(scale, all(scale_bits), exponent);
  return {hn::Mul(exp2_of_fraction(fraction), exp2_of_integer(rest)), scale};
}

inline std::int64_t first_values_stride(const Pairs& pairs, const Order& order) {
  constexpr std::int64_t whole = max_group_vectors * n_lanes;
  return (pairs.count - order.first_pair / whole * whole + whole - 1) / whole * whole;
}

template <class S>
HWY_INLINE void seed_group(const Pairs& pairs, const Order& order, std::int64_t first,
                           Variable variable, Group<S>& group) {
  const double* x = (variable == Variable::from_pole ? pairs.x_pole : pairs.x_equator) + first;
  group.g_offset = g_offset<S>(variable);
  group.step = 0;
  Vec lowest_scale = hn::Zero(Lanes());
  for (int v = 0; v < S::vectors; ++v) {
    put(hn::LoadU(Lanes(), x + v * n_lanes), group.x, v);
    if constexpr (S::functions == 1) {
      if (order.first_values != nullptr) {
        const double* values = order.first_values + first + v * n_lanes - first_of_groups<S>(order);
        const Vec scale = hn::LoadU(Lanes(), values + first_values_stride(pairs, order));
        lowest_scale = hn::Min(lowest_scale, scale);
        put(hn::Zero(Lanes()), group.previous, v);
        put(hn::LoadU(Lanes(), values), group.current, v);
        put(scale, group.scale, v);
        continue;
      }
    }
    const SinePower sine = sine_power(pairs, order.seed.sin_power, first + v * n_lanes);
    lowest_scale = hn::Min(lowest_scale, sine.scale);
    for (int f = 0; f < S::functions; ++f) {
      Vec p = hn::Mul(sine.value, all(order.seed.prefactor[f]));
      if constexpr (S::functions > 1) {
        const Vec factor = hn::LoadU(Lanes(), pairs.seed_factor[f] + first + v * n_lanes);
        for (int i = 0; i < order.seed.factor_power; ++i) p = hn::Mul(p, factor);
      }
      put(hn::Zero(Lanes()), group.previous, f * S::vectors + v);
      put(p, group.current, f * S::vectors + v);
      put(sine.scale, group.scale, f * S::vectors + v);
    }
  }
  group.steady = hn::AllTrue(Lanes(), hn::Eq(lowest_scale, hn::Zero(Lanes())));
}

/// Advances the recurrences by one step: `previous` becomes the next value.
template <int Functions, int Vectors>
HWY_INLINE void advance(const double* HWY_RESTRICT c, const double* HWY_RESTRICT g, const Vec* x,
                        Vec* previous, const Vec* current) {
  const Vec a = all(c[0]);
#pragma GCC unroll 2
  for (int f = 0; f < Functions; ++f) {
    const Vec constant = all(g[f]);
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) {
      const int i = f * Vectors + v;
      previous[i] = hn::MulAdd(hn::MulAdd(a, x[v], constant), current[i], previous[i]);
    }
  }
}

/// Rescales the marked lanes.
HWY_INLINE void lift(hn::Mask<Lanes> lanes, Vec& previous, Vec& current, Vec& scale) {
  const Vec factor = hn::IfThenElse(lanes, all(two_to_minus_800), all(1));
  previous = hn::Mul(previous, factor);
  current = hn::Mul(current, factor);
  scale = hn::Add(scale, hn::IfThenElseZero(lanes, all(1)));
}

template <int Values>
HWY_INLINE bool all_in_range(const Vec* scale) {
  Vec lowest = scale[0];
  for (int i = 1; i < Values; ++i) lowest = hn::Min(lowest, scale[i]);
  return hn::AllTrue(Lanes(), hn::Eq(lowest, hn::Zero(Lanes())));
}

/// Recurrences of some vectors of a group, in registers.
template <class S, int Vectors>
struct Running {
  static constexpr int values = S::functions * Vectors;  // [function][vector]
  Vecs<Vectors> x;
  Vecs<values> previous;
  Vecs<values> current;
  Vecs<values> scale;

  HWY_INLINE void load(const Group<S>& group, int first_vector) {
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) x[v] = at(group.x, first_vector + v);
#pragma GCC unroll 8
    for (int i = 0; i < values; ++i) {
      const int place = (i / Vectors) * S::vectors + first_vector + i % Vectors;
      previous[i] = at(group.previous, place);
      current[i] = at(group.current, place);
      scale[i] = at(group.scale, place);
    }
  }
  HWY_INLINE void store(Group<S>& group) const {
    static_assert(Vectors == S::vectors);
#pragma GCC unroll 8
    for (int i = 0; i < values; ++i) {
      put(previous[i], group.previous, i);
      put(current[i], group.current, i);
      put(scale[i], group.scale, i);
    }
  }
};

/// First phase: runs the recurrences in whole chunks, until a lane comes within range.
template <class S>
void seek(const Order& order, Group<S>& group) {
  Running<S, S::vectors> run;
  run.load(group, 0);
  constexpr int values = decltype(run)::values;
  Vec highest = run.scale[0];
  for (int i = 1; i < values; ++i) highest = hn::Max(highest, run.scale[i]);
  if (!hn::AllTrue(Lanes(), hn::Lt(highest, hn::Zero(Lanes())))) return;

  constexpr std::int64_t stride = S::stride;
  while (group.step < order.n_steps) {
    // First values may be as large as those that come into range.
    bool arrived = false;
    for (int i = 0; i < values; ++i) {
      const auto big = hn::Gt(hn::Abs(run.current[i]), all(near_the_range));
      if (HWY_LIKELY(hn::AllFalse(Lanes(), big))) continue;
      const auto last_lift = hn::Eq(run.scale[i], all(-1));
      arrived = arrived || !hn::AllFalse(Lanes(), hn::And(big, last_lift));
      lift(hn::AndNot(last_lift, big), run.previous[i], run.current[i], run.scale[i]);
    }
    if (arrived) break;
    const double* c = order.coefficients + group.step * stride;
    const double* g = c + group.g_offset;
    static_assert(chunk == 4);
    advance<S::functions, S::vectors>(c, g, run.x, run.previous, run.current);
    advance<S::functions, S::vectors>(c + stride, g + stride, run.x, run.current, run.previous);
    advance<S::functions, S::vectors>(c + 2 * stride, g + 2 * stride, run.x, run.previous,
                                      run.current);
    advance<S::functions, S::vectors>(c + 3 * stride, g + 3 * stride, run.x, run.current,
                                      run.previous);
    // After an even number of steps `previous` and `current` have their own names again.
    group.step += chunk;
  }
  run.store(group);
}

}  // namespace ringweave::detail::inline legendre::sweep::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
