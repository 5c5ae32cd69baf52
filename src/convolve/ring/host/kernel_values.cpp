// SPDX-License-Identifier: GPL-3.0-or-later
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "convolve/ring/host/kernel_values.cpp"
#include "convolve/ring/host/kernel_values.hpp"

#include "base/simd/instruction_sets.hpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "sphere/kernel/kernel_table.hpp"

HWY_BEFORE_NAMESPACE();
namespace ringweave::detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, 8>;
using V = hn::Vec<D>;
constexpr std::int64_t n_vector = static_cast<std::int64_t>(hn::MaxLanes(D()));

/// Finds the pieces of a tabulated profile that contain x, returned as cells; returns x relative to
/// their centres.
HWY_INLINE V find_pieces(const KernelTable& kernel, V x, hn::Vec<hn::RebindToSigned<D>>& cell) {
  const D d;
  const hn::RebindToSigned<D> di;
  HWY_ALIGN double at[n_vector];
  HWY_ALIGN double centre[n_vector];
  HWY_ALIGN std::int64_t piece[n_vector];
  hn::Store(x, d, at);
  hn::Store(cell, di, piece);
  for (std::int64_t i = 0; i < n_vector; ++i) {
    std::int64_t p = kernel.first_piece[static_cast<std::size_t>(piece[i])];
    while (at[i] > kernel.piece_end[static_cast<std::size_t>(p)]) ++p;
    centre[i] = kernel.piece_centre[static_cast<std::size_t>(p)];
    piece[i] = p;
  }
  cell = hn::Load(di, piece);
  return hn::Sub(x, hn::Load(d, centre));
}

/// Evaluates one vector of values.
template <bool is_uniform>
HWY_INLINE V values_at(const KernelTable& kernel, V chord_squared) {
  const D d;
  const hn::RebindToSigned<D> di;
  constexpr std::int64_t coefficients = KernelTable::degree + 1;
  const V zero = hn::Zero(d);
  const auto is_inside = hn::Le(chord_squared, hn::Set(d, kernel.chord_squared_cut));
  const V square = hn::IfThenElse(is_inside, chord_squared, zero);
  const auto is_far = hn::Gt(square, hn::Set(d, 2.0));
  const V away = hn::Max(zero, hn::Sub(hn::Set(d, 4.0), square));
  const V x = hn::Mul(hn::Set(d, kernel.scale), hn::Sqrt(hn::IfThenElse(is_far, away, square)));
  const auto whole = hn::ConvertTo(di, x);
  const auto offset =
      hn::IfThenElseZero(hn::RebindMask(di, is_far), hn::Set(di, kernel.far_offset));
  auto cell = hn::Add(whole, offset);
  const V t = is_uniform ? hn::Sub(x, hn::Add(hn::ConvertTo(d, whole), hn::Set(d, 0.5)))
                         : find_pieces(kernel, x, cell);
  const auto first = hn::ShiftLeft<3>(cell);
  static_assert(coefficients == 8);
  const double* table = kernel.coefficients();
  V value = hn::GatherIndex(d, table + coefficients - 1, first);
  for (std::int64_t k = coefficients - 2; k >= 0; --k)
    value = hn::MulAdd(value, t, hn::GatherIndex(d, table + k, first));
  return hn::IfThenElseZero(is_inside, value);
}

template <bool is_uniform>
HWY_INLINE void evaluate_all(const KernelTable& kernel, const double* chord_squared,
                             std::int64_t count, double* values) {
  const D d;
  std::int64_t i = 0;
  for (; i + n_vector <= count; i += n_vector)
    hn::StoreU(values_at<is_uniform>(kernel, hn::LoadU(d, chord_squared + i)), d, values + i);
  if (i == count) return;
  double last[8] = {};
  for (std::int64_t k = i; k < count; ++k) last[k - i] = chord_squared[k];
  hn::StoreU(values_at<is_uniform>(kernel, hn::LoadU(d, last)), d, last);
  for (std::int64_t k = i; k < count; ++k) values[k] = last[k - i];
}

void evaluate_table(const KernelTable& kernel, const double* chord_squared, std::int64_t count,
                    double* values) {
  if (kernel.is_uniform()) {
    evaluate_all<true>(kernel, chord_squared, count, values);
  } else {
    evaluate_all<false>(kernel, chord_squared, count, values);
  }
}

}  // namespace ringweave::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ringweave::detail::inline convolve {

HWY_EXPORT(evaluate_table);

void evaluate(const KernelTable& kernel, const double* chord_squared, std::int64_t count,
              double* values) noexcept {
  HWY_DYNAMIC_DISPATCH(evaluate_table)(kernel, chord_squared, count, values);
}

}  // namespace ringweave::detail::inline convolve
#endif
