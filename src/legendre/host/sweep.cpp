// SPDX-License-Identifier: GPL-3.0-or-later
// The sets below add nothing to double arithmetic; arrays of vectors rule out scalable ones.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "legendre/host/sweep.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include "legendre/host/sweep.hpp"

#include "legendre/host/adjoint-inl.hpp"
#include "legendre/host/synthesis-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ringweave::sweep::HWY_NAMESPACE {

constexpr int maps_in_registers = n_registers >= 32 ? 4 : 2;

std::int64_t lanes() { return n_lanes; }
int max_maps() { return maps_in_registers; }
std::int64_t padding() { return group_pairs + n_lanes; }

void synthesize(const Pairs& pairs, const Order& order, Shape shape, const double* columns, double* sums,
                std::int64_t stride) {
  if (shape.n_functions == 2) return synthesize_shape<SpinField>(pairs, order, columns, sums, stride);
  switch (shape.n_columns / 4) {
    case 1: return synthesize_shape<ScalarMaps<1>>(pairs, order, columns, sums, stride);
    case 2: return synthesize_shape<ScalarMaps<2>>(pairs, order, columns, sums, stride);
    default: break;
  }
  if constexpr (maps_in_registers == 4) {
    if (shape.n_columns == 12) return synthesize_shape<ScalarMaps<3>>(pairs, order, columns, sums, stride);
    return synthesize_shape<ScalarMaps<4>>(pairs, order, columns, sums, stride);
  }
}

void adjoint(const Pairs& pairs, const Order& order, Shape shape, const double* sums, std::int64_t stride,
             double* columns) {
  if (shape.n_functions == 2) return adjoint_shape<SpinField>(pairs, order, sums, stride, columns);
  switch (shape.n_columns / 4) {
    case 1: return adjoint_shape<ScalarMaps<1>>(pairs, order, sums, stride, columns);
    case 2: return adjoint_shape<ScalarMaps<2>>(pairs, order, sums, stride, columns);
    default: break;
  }
  if constexpr (maps_in_registers == 4) {
    if (shape.n_columns == 12) return adjoint_shape<ScalarMaps<3>>(pairs, order, sums, stride, columns);
    return adjoint_shape<ScalarMaps<4>>(pairs, order, sums, stride, columns);
  }
}

void square_roots(const double* numerators, const double* denominators, double* roots, std::int64_t count) {
  std::int64_t i = 0;
  for (; i + n_lanes <= count; i += n_lanes) {
    const Vec quotient = hn::Div(hn::LoadU(Lanes(), numerators + i), hn::LoadU(Lanes(), denominators + i));
    hn::StoreU(hn::Sqrt(quotient), Lanes(), roots + i);
  }
  const hn::CappedTag<double, 1> one;
  for (; i < count; ++i) {
    hn::StoreU(hn::Sqrt(hn::Div(hn::LoadU(one, numerators + i), hn::LoadU(one, denominators + i))), one, roots + i);
  }
}

}  // namespace ringweave::sweep::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "legendre/simd_targets.hpp"

namespace ringweave::sweep {

HWY_EXPORT(lanes);
HWY_EXPORT(max_maps);
HWY_EXPORT(padding);
HWY_EXPORT(synthesize);
HWY_EXPORT(adjoint);
HWY_EXPORT(square_roots);

std::int64_t lanes() { return HWY_DYNAMIC_DISPATCH(lanes)(); }
int max_maps() { return HWY_DYNAMIC_DISPATCH(max_maps)(); }
std::int64_t padding() { return HWY_DYNAMIC_DISPATCH(padding)(); }

void synthesize(const Pairs& pairs, const Order& order, Shape shape, const double* columns, double* sums,
                std::int64_t stride) {
  HWY_DYNAMIC_DISPATCH(synthesize)(pairs, order, shape, columns, sums, stride);
}

void adjoint(const Pairs& pairs, const Order& order, Shape shape, const double* sums, std::int64_t stride,
             double* columns) {
  HWY_DYNAMIC_DISPATCH(adjoint)(pairs, order, shape, sums, stride, columns);
}

void square_roots(const double* numerators, const double* denominators, double* roots, std::int64_t count) {
  HWY_DYNAMIC_DISPATCH(square_roots)(numerators, denominators, roots, count);
}

}  // namespace ringweave::sweep

namespace ringweave {

std::string simd_targets_compiled() {
  std::string names;
  for (std::int64_t rest = HWY_TARGETS; rest != 0; rest &= rest - 1) {
    if (!names.empty()) names += ' ';
    names += hwy::TargetName(rest & -rest);
  }
  return names;
}

std::string simd_target_chosen() {
  const std::int64_t runnable = hwy::SupportedTargets() & HWY_TARGETS;
  return hwy::TargetName(runnable & -runnable);
}

}  // namespace ringweave
#endif
