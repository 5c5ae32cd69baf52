// SPDX-License-Identifier: GPL-3.0-or-later
#include "legendre/host/sweep.hpp"

#include "base/simd/instruction_sets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "legendre/host/sweep.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
// After foreach_target.h.
#include "legendre/host/adjoint-inl.hpp"
#include "legendre/host/synthesis-inl.hpp"
#include "legendre/host/transfer-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ringweave::detail::inline legendre::sweep::HWY_NAMESPACE {

constexpr int maps_in_registers = n_registers >= 32 ? 3 : 2;

int max_maps() { return maps_in_registers; }

/// Calls work(S()) with the type of a shape.
template <template <int> class Scalars, class Work>
void with_maps(int maps, const Work& work) {
  if (maps == 1) return work(Scalars<1>());
  if constexpr (maps_in_registers == 3) {
    if (maps == 3) return work(Scalars<3>());
  }
  work(Scalars<2>());
}
template <class Work>
void with_type_of(Shape shape, const Work& work) {
  switch (shape.kind) {
    case Kind::scalars_by_two: return with_maps<ScalarsByTwo>(shape.maps, work);
    case Kind::scalars_by_one: return with_maps<ScalarsByOne>(shape.maps, work);
    case Kind::spin: return work(SpinField());
  }
}

void synthesize(const Pairs& pairs, const Order& order, Shape shape, const double* columns,
                double* sums, std::int64_t stride) {
  with_type_of(shape, [&](auto type) HWY_ATTR {
    synthesize_shape<decltype(type)>(pairs, order, columns, sums, stride);
  });
}

void adjoint(const Pairs& pairs, const Order& order, Shape shape, const double* sums,
             std::int64_t stride, double* columns, double* scratch,
             std::span<const PrefetchRange> wanted) {
  with_type_of(shape, [&](auto type) HWY_ATTR {
    adjoint_shape<decltype(type)>(pairs, order, sums, stride, columns, scratch, wanted);
  });
}

std::int64_t n_first_values(const Pairs& pairs, const Order& order) {
  return 2 * first_values_stride(pairs, order);
}

void first_values(const Pairs& pairs, const Order& order, double* values) {
  const std::int64_t stride = first_values_stride(pairs, order);
  constexpr std::int64_t whole = max_group_vectors * n_lanes;
  const std::int64_t first = order.first_pair / whole * whole;
  for (std::int64_t i = 0; i < stride; i += n_lanes) {
    const SinePower sine = sine_power(pairs, order.seed.sin_power, first + i);
    hn::StoreU(hn::Mul(sine.value, all(order.seed.prefactor[0])), Lanes(), values + i);
    hn::StoreU(sine.scale, Lanes(), values + stride + i);
  }
}

std::int64_t adjoint_scratch(Shape shape, std::int64_t n_pairs) {
  std::int64_t size = 0;
  with_type_of(shape, [&](auto type) {
    using S = decltype(type);
    const std::int64_t n_groups = (n_pairs + group_pairs<S> - 1) / group_pairs<S>;
    size = n_groups * static_cast<std::int64_t>(sizeof(AdjointGroup<S>) / sizeof(double));
  });
  return size;
}

}  // namespace ringweave::detail::inline legendre::sweep::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "legendre/legendre_stage.hpp"

namespace ringweave::detail::inline legendre::sweep {

HWY_EXPORT(max_maps);
HWY_EXPORT(n_first_values);
HWY_EXPORT(first_values);
HWY_EXPORT(synthesize);
HWY_EXPORT(adjoint);
HWY_EXPORT(adjoint_scratch);
HWY_EXPORT(write_modes);
HWY_EXPORT(read_modes);

int max_maps() { return HWY_DYNAMIC_DISPATCH(max_maps)(); }

std::int64_t n_first_values(const Pairs& pairs, const Order& order) {
  return HWY_DYNAMIC_DISPATCH(n_first_values)(pairs, order);
}

void first_values(const Pairs& pairs, const Order& order, double* values) {
  HWY_DYNAMIC_DISPATCH(first_values)(pairs, order, values);
}

void synthesize(const Pairs& pairs, const Order& order, Shape shape, const double* columns,
                double* sums, std::int64_t stride) {
  HWY_DYNAMIC_DISPATCH(synthesize)(pairs, order, shape, columns, sums, stride);
}

void adjoint(const Pairs& pairs, const Order& order, Shape shape, const double* sums,
             std::int64_t stride, double* columns, double* scratch,
             std::span<const PrefetchRange> wanted) {
  HWY_DYNAMIC_DISPATCH(adjoint)(pairs, order, shape, sums, stride, columns, scratch, wanted);
}

std::int64_t adjoint_scratch(Shape shape, std::int64_t n_pairs) {
  return HWY_DYNAMIC_DISPATCH(adjoint_scratch)(shape, n_pairs);
}

void write_modes(const MapSums* maps, int n_maps, std::int64_t stride, const RingRun& run,
                 std::complex<double>* modes, std::int64_t n_components) {
  HWY_DYNAMIC_DISPATCH(write_modes)(maps, n_maps, stride, run, modes, n_components);
}

void read_modes(const MapSums* maps, int n_maps, std::int64_t stride, const RingRun& run,
                const std::complex<double>* modes, std::int64_t n_components, bool add) {
  HWY_DYNAMIC_DISPATCH(read_modes)(maps, n_maps, stride, run, modes, n_components, add);
}

}  // namespace ringweave::detail::inline legendre::sweep

namespace ringweave::detail::inline legendre {

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

}  // namespace ringweave::detail::inline legendre
#endif
