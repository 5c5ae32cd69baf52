// SPDX-License-Identifier: GPL-3.0-or-later
#include "legendre/host/order_lanes.hpp"

#include "base/simd/instruction_sets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "legendre/host/order_lanes.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
// After foreach_target.h.
#include "base/simd/complex_lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ringweave::columns::HWY_NAMESPACE {

using namespace ringweave::HWY_NAMESPACE;
namespace hn = hwy::HWY_NAMESPACE;

// Shuffles are called unqualified: the target of one lane lacks them, and does not get here.

/// Four vectors of four blocks of two lanes each, transposed.
template <class Vec>
HWY_INLINE void transpose_blocks(Vec* a) {
  const Vec even_low = OddEvenBlocks(SwapAdjacentBlocks(a[1]), a[0]);
  const Vec odd_low = OddEvenBlocks(a[1], SwapAdjacentBlocks(a[0]));
  const Vec even_high = OddEvenBlocks(SwapAdjacentBlocks(a[3]), a[2]);
  const Vec odd_high = OddEvenBlocks(a[3], SwapAdjacentBlocks(a[2]));
  a[0] = ConcatLowerLower(D(), even_high, even_low);
  a[1] = ConcatLowerLower(D(), odd_high, odd_low);
  a[2] = ConcatUpperUpper(D(), even_high, even_low);
  a[3] = ConcatUpperUpper(D(), odd_high, odd_low);
}

/// As many vectors as there are lanes, transposed.
template <std::int64_t N, class Vec>
HWY_INLINE void transpose(Vec* v) {
  if constexpr (N > 1) {
    Vec lower[std::size_t{N / 2}];
    Vec upper[std::size_t{N / 2}];
    for (std::int64_t i = 0; i < N / 2; ++i) {
      lower[i] = InterleaveLower(D(), v[2 * i], v[2 * i + 1]);
      upper[i] = InterleaveUpper(D(), v[2 * i], v[2 * i + 1]);
    }
    if constexpr (N == 2) {
      v[0] = lower[0];
      v[1] = upper[0];
    } else if constexpr (N == 4) {
      v[0] = ConcatLowerLower(D(), lower[1], lower[0]);
      v[1] = ConcatLowerLower(D(), upper[1], upper[0]);
      v[2] = ConcatUpperUpper(D(), lower[1], lower[0]);
      v[3] = ConcatUpperUpper(D(), upper[1], upper[0]);
    } else {
      static_assert(N == 8);
      transpose_blocks(lower);
      transpose_blocks(upper);
      for (std::int64_t i = 0; i < 4; ++i) {
        v[2 * i] = lower[i];
        v[2 * i + 1] = upper[i];
      }
    }
  }
}

/// Calls whole(ring, order) for squares of as many rings and orders as there are lanes, then
/// single(ring) for the rings that are left.
template <class Whole, class Single>
HWY_INLINE void for_each_square(std::int64_t n_rings, std::int64_t step, const Whole& whole,
                                const Single& single) {
  std::int64_t ring = 0;
  if (step == 1) {
    for (; ring + n_lanes <= n_rings; ring += n_lanes) {
      for (std::int64_t order = 0; order < width; order += n_lanes) whole(ring, order);
    }
  }
  for (; ring < n_rings; ++ring) single(ring);
}

void pack_orders(const OrderRows<const Complex>& rows, std::int64_t n_rings, double* block) {
  const auto whole = [&](std::int64_t ring, std::int64_t order) HWY_ATTR {
    V re[std::size_t{n_lanes}];
    V im[std::size_t{n_lanes}];
    for (std::int64_t i = 0; i < n_lanes; ++i) {
      const Complex* row = rows.first[static_cast<std::size_t>(order + i)];
      const ComplexLanes a = row == nullptr ? zero() : load_interleaved(row + ring);
      re[i] = a.re;
      im[i] = a.im;
    }
    transpose<n_lanes>(re);
    transpose<n_lanes>(im);
    double* to = block + ring * row_size + order;
    for (std::int64_t i = 0; i < n_lanes; ++i) store({re[i], im[i]}, to + i * row_size, width);
  };
  const auto single = [&](std::int64_t ring) {
    double* to = block + ring * row_size;
    for (const Complex* row : rows.first) {
      const Complex value = row == nullptr ? Complex() : row[ring * rows.step];
      to[0] = value.real();
      to[width] = value.imag();
      ++to;
    }
  };
  for_each_square(n_rings, rows.step, whole, single);
}

void unpack_orders(const double* block, std::int64_t n_rings, const OrderRows<Complex>& rows) {
  const auto whole = [&](std::int64_t ring, std::int64_t order) HWY_ATTR {
    V re[std::size_t{n_lanes}];
    V im[std::size_t{n_lanes}];
    const double* from = block + ring * row_size + order;
    for (std::int64_t i = 0; i < n_lanes; ++i) {
      const ComplexLanes a = load(from + i * row_size, width);
      re[i] = a.re;
      im[i] = a.im;
    }
    transpose<n_lanes>(re);
    transpose<n_lanes>(im);
    for (std::int64_t i = 0; i < n_lanes; ++i) {
      Complex* row = rows.first[static_cast<std::size_t>(order + i)];
      if (row != nullptr) store_interleaved({re[i], im[i]}, row + ring);
    }
  };
  const auto single = [&](std::int64_t ring) {
    const double* from = block + ring * row_size;
    for (Complex* row : rows.first) {
      if (row != nullptr) row[ring * rows.step] = {from[0], from[width]};
      ++from;
    }
  };
  for_each_square(n_rings, rows.step, whole, single);
}

}  // namespace ringweave::columns::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ringweave::columns {

HWY_EXPORT(pack_orders);
HWY_EXPORT(unpack_orders);

void pack_orders(const OrderRows<const std::complex<double>>& rows, std::int64_t n_rings,
                 double* block) noexcept {
  HWY_DYNAMIC_DISPATCH(pack_orders)(rows, n_rings, block);
}

void unpack_orders(const double* block, std::int64_t n_rings,
                   const OrderRows<std::complex<double>>& rows) noexcept {
  HWY_DYNAMIC_DISPATCH(unpack_orders)(block, n_rings, rows);
}

}  // namespace ringweave::columns
#endif
