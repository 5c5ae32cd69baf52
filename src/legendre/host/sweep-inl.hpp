// SPDX-License-Identifier: GPL-3.0-or-later
// Compiled once for every instruction set: the guard is toggled by hwy/foreach_target.h.
#if defined(RINGWEAVE_LEGENDRE_HOST_SWEEP_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef RINGWEAVE_LEGENDRE_HOST_SWEEP_INL
#undef RINGWEAVE_LEGENDRE_HOST_SWEEP_INL
#else
#define RINGWEAVE_LEGENDRE_HOST_SWEEP_INL
#endif

#include "hwy/highway.h"
#include "legendre/host/exp2_series.hpp"
#include "legendre/host/sweep.hpp"

HWY_BEFORE_NAMESPACE();
namespace ringweave::sweep::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Lanes = hn::ScalableTag<double>;
using Vec = hn::Vec<Lanes>;
// Fixed numbers of vectors: in registers, and in memory.
template <int N>
using Vecs = Vec[std::size_t{N}];
constexpr std::int64_t n_lanes = static_cast<std::int64_t>(hn::MaxLanes(Lanes()));
// A group of vectors goes through the phases of the recurrence together, so that its chains hide their latency.
constexpr int group_vectors = 4;
constexpr std::int64_t group_pairs = group_vectors * n_lanes;
constexpr int n_registers = n_lanes >= 8 ? 32 : 16;

// A value is p * 2^(800 scale) with scale <= 0. Below 2^-60 it does not count; p is scaled down when it reaches 2^740.
constexpr double scale_bits = 800;
constexpr double tiny_bits = 60;
constexpr double two_to_740 = 0x1p740;
constexpr double two_to_minus_800 = 0x1p-800;
// A chunk of steps grows a value by less than 2^80.
constexpr double near_the_range = 0x1p660;

template <int N>
using LaneArray = double[std::size_t{N} * std::size_t{n_lanes}];

template <int Maps>
struct ScalarMaps {
  static constexpr int functions = 1;
  static constexpr int columns = 4 * Maps;
  static constexpr int sums = 4 * Maps;
  static constexpr int function(int) { return 0; }
  static constexpr int column(int sum) { return sum; }
  static constexpr bool alternates(int) { return false; }
};

struct SpinField {
  static constexpr int functions = 2;
  static constexpr int columns = 4;
  static constexpr int sums = 8;
  static constexpr int function(int sum) { return (sum / 2 == 0 || sum / 2 == 3) ? 0 : 1; }
  static constexpr int column(int sum) { return sum % 4; }
  static constexpr bool alternates(int sum) { return sum >= 4; }
};

/// The recurrences of one group of vectors between two steps. Lane vectors in memory.
template <class S>
struct Group {
  static constexpr int values = S::functions * group_vectors;  // [function][vector]
  HWY_ALIGN LaneArray<group_vectors> x;
  HWY_ALIGN LaneArray<values> previous;
  HWY_ALIGN LaneArray<values> current;
  HWY_ALIGN LaneArray<values> scale;
  std::int64_t step = 0;
  std::int64_t g_offset = 1;  // where g lies among the coefficients of a step
  bool steady = false;        // every lane of every function is within range
};

HWY_INLINE Vec at(const double* p, int vector) { return hn::Load(Lanes(), p + vector * n_lanes); }
HWY_INLINE void put(Vec v, double* p, int vector) { hn::Store(v, Lanes(), p + vector * n_lanes); }
HWY_INLINE Vec all(double value) { return hn::Set(Lanes(), value); }

/// 2^f for |f| <= 1/2.
HWY_INLINE Vec exp2_of_fraction(Vec f) {
  Vec sum = all(exp2_series[exp2_terms - 1]);
  for (int n = exp2_terms - 2; n >= 0; --n) sum = hn::MulAdd(sum, f, all(exp2_series[static_cast<unsigned>(n)]));
  return sum;
}

/// 2^n for integers |n| < 1023.
HWY_INLINE Vec exp2_of_integer(Vec n) {
  const hn::Rebind<std::int64_t, Lanes> integers;
  const auto biased = hn::ConvertTo(integers, hn::Add(n, all(1023)));
  return hn::BitCast(Lanes(), hn::ShiftLeft<52>(biased));
}

template <class S>
HWY_INLINE void seed_group(const Pairs& pairs, const Order& order, std::int64_t first, Group<S>& group) {
  const bool polar = first < pairs.n_polar;
  const double* x = (polar ? pairs.x_pole : pairs.x_equator) + first;
  group.g_offset = polar ? 1 + S::functions : 1;
  group.step = 0;
  const Vec power = all(order.seed.sin_power);
  auto in_range = hn::FirstN(Lanes(), static_cast<std::size_t>(n_lanes));
  for (int v = 0; v < group_vectors; ++v) {
    put(hn::LoadU(Lanes(), x + v * n_lanes), group.x, v);
    const Vec product = hn::Mul(power, hn::LoadU(Lanes(), pairs.log2_sin_high + first + v * n_lanes));
    const Vec exponent = hn::Round(product);
    const Vec fraction = hn::MulAdd(power, hn::LoadU(Lanes(), pairs.log2_sin_low + first + v * n_lanes),
                                    hn::Sub(product, exponent));
    const Vec scale = hn::Floor(hn::Mul(hn::Add(exponent, all(tiny_bits)), all(1 / scale_bits)));
    const Vec rest = hn::NegMulAdd(scale, all(scale_bits), exponent);
    const Vec sine_power = hn::Mul(exp2_of_fraction(fraction), exp2_of_integer(rest));
    for (int f = 0; f < S::functions; ++f) {
      Vec p = hn::Mul(sine_power, all(order.seed.prefactor[f]));
      if constexpr (S::functions > 1) {
        const Vec factor = hn::LoadU(Lanes(), pairs.seed_factor[f] + first + v * n_lanes);
        for (int i = 0; i < order.seed.factor_power; ++i) p = hn::Mul(p, factor);
      }
      put(hn::Zero(Lanes()), group.previous, f * group_vectors + v);
      put(p, group.current, f * group_vectors + v);
      put(scale, group.scale, f * group_vectors + v);
      in_range = hn::And(in_range, hn::Eq(scale, hn::Zero(Lanes())));
    }
  }
  group.steady = hn::AllTrue(Lanes(), in_range);
}

/// Lifts lanes that have outgrown `limit`, except those with scale -1 when they are to wait; returns whether one waits.
enum class LastLift { now, wait };
template <class S>
HWY_INLINE bool lift(Group<S>& group, Vec* previous, Vec* current, double limit, LastLift last) {
  bool waits = false;
  for (int i = 0; i < Group<S>::values; ++i) {
    const auto big = hn::Gt(hn::Abs(current[i]), all(limit));
    if (HWY_LIKELY(hn::AllFalse(Lanes(), big))) continue;
    const Vec scale = at(group.scale, i);
    auto lifted = big;
    if (last == LastLift::wait) {
      waits = waits || !hn::AllFalse(Lanes(), hn::And(big, hn::Eq(scale, all(-1))));
      lifted = hn::And(big, hn::Lt(scale, all(-1)));
    }
    previous[i] = hn::IfThenElse(lifted, hn::Mul(previous[i], all(two_to_minus_800)), previous[i]);
    current[i] = hn::IfThenElse(lifted, hn::Mul(current[i], all(two_to_minus_800)), current[i]);
    put(hn::IfThenElse(lifted, hn::Add(scale, all(1)), scale), group.scale, i);
  }
  return waits;
}

template <class S>
HWY_INLINE bool any_in_range(const Group<S>& group) {
  for (int i = 0; i < Group<S>::values; ++i) {
    if (!hn::AllFalse(Lanes(), hn::Eq(at(group.scale, i), hn::Zero(Lanes())))) return true;
  }
  return false;
}
template <class S>
HWY_INLINE bool all_in_range(const Group<S>& group) {
  for (int i = 0; i < Group<S>::values; ++i) {
    if (!hn::AllTrue(Lanes(), hn::Eq(at(group.scale, i), hn::Zero(Lanes())))) return false;
  }
  return true;
}

/// First phase: runs the recurrences, whole chunks, up to the chunk in which a lane comes within range.
template <class S>
void seek(const Order& order, Group<S>& group) {
  if (any_in_range(group)) return;
  constexpr int values = Group<S>::values;
  Vecs<group_vectors> x;
  Vecs<values> previous;
  Vecs<values> current;
  for (int v = 0; v < group_vectors; ++v) x[v] = at(group.x, v);
  for (int i = 0; i < values; ++i) {
    previous[i] = at(group.previous, i);
    current[i] = at(group.current, i);
  }
  constexpr std::int64_t stride = coefficient_stride(S::functions);
  bool waits = false;
  while (!waits && group.step < order.n_steps) {
    const double* c = order.coefficients + group.step * stride;
    for (std::int64_t t = 0; t < chunk; ++t, c += stride) {
      const Vec a = all(c[0]);
      for (int i = 0; i < values; ++i) {
        const Vec factor = hn::MulAdd(a, x[i % group_vectors], all(c[group.g_offset + i / group_vectors]));
        const Vec next = hn::MulAdd(factor, current[i], previous[i]);
        previous[i] = current[i];
        current[i] = next;
      }
    }
    group.step += chunk;
    waits = lift(group, previous, current, near_the_range, LastLift::wait);
  }
  for (int i = 0; i < values; ++i) {
    put(previous[i], group.previous, i);
    put(current[i], group.current, i);
  }
}

/// Second phase, one chunk: some lanes are within range, the others count as zero.
/// `visit(step, within)` gets the values [function][vector] of every step.
template <class S, class Visit>
HWY_INLINE void mixed_chunk(const Order& order, Group<S>& group, Visit&& visit) {
  constexpr int values = Group<S>::values;
  constexpr std::int64_t stride = coefficient_stride(S::functions);
  Vecs<group_vectors> x;
  Vecs<values> previous;
  Vecs<values> current;
  for (int v = 0; v < group_vectors; ++v) x[v] = at(group.x, v);
  for (int i = 0; i < values; ++i) {
    previous[i] = at(group.previous, i);
    current[i] = at(group.current, i);
  }
  const double* c = order.coefficients + group.step * stride;
  for (std::int64_t t = 0; t < chunk; ++t, c += stride) {
    // A lane that outgrew its scale at the end of the first phase must count from this step on.
    lift(group, previous, current, two_to_740, LastLift::now);
    Vecs<values> within;
    for (int i = 0; i < values; ++i) {
      within[i] = hn::IfThenElseZero(hn::Eq(at(group.scale, i), hn::Zero(Lanes())), current[i]);
    }
    visit(t, within);
    for (int i = 0; i < values; ++i) {
      const Vec factor = hn::MulAdd(all(c[0]), x[i % group_vectors], all(c[group.g_offset + i / group_vectors]));
      const Vec next = hn::MulAdd(factor, current[i], previous[i]);
      previous[i] = current[i];
      current[i] = next;
    }
  }
  for (int i = 0; i < values; ++i) {
    put(previous[i], group.previous, i);
    put(current[i], group.current, i);
  }
  group.step += chunk;
  group.steady = all_in_range(group);
}

}  // namespace ringweave::sweep::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
