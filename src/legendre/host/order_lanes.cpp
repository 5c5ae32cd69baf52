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
namespace ringweave::detail::inline legendre::columns::HWY_NAMESPACE {

using namespace ringweave::detail::HWY_NAMESPACE;
namespace hn = hwy::HWY_NAMESPACE;

// Shuffles are called unqualified, because the one-lane target does not have them; this code is not
// instantiated there.

/// Transposes four vectors of four blocks of two lanes each.
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

/// Transposes as many vectors as there are lanes.
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

/// Gathers complex numbers into lanes.
template <std::int64_t N, class Tag>
HWY_INLINE ComplexLanes gather(Tag d, const Complex* const* from) {
  const auto at = [&](std::int64_t i) HWY_ATTR { return reinterpret_cast<const double*>(from[i]); };
  if constexpr (N == 1) {
    return broadcast(*from[0]);
  } else if constexpr (N == 2) {
    const auto a = hn::LoadU(d, at(0));
    const auto b = hn::LoadU(d, at(1));
    return {InterleaveLower(d, a, b), InterleaveUpper(d, a, b)};
  } else {
    const hn::Half<Tag> half;
    hn::Vec<Tag> low;
    hn::Vec<Tag> high;
    if constexpr (N == 4) {
      low = Combine(d, hn::LoadU(half, at(1)), hn::LoadU(half, at(0)));
      high = Combine(d, hn::LoadU(half, at(3)), hn::LoadU(half, at(2)));
    } else {
      static_assert(N == 8);
      const hn::Half<decltype(half)> quarter;
      const auto pair = [&](std::int64_t i) HWY_ATTR {
        return Combine(half, hn::LoadU(quarter, at(i + 1)), hn::LoadU(quarter, at(i)));
      };
      low = Combine(d, pair(2), pair(0));
      high = Combine(d, pair(6), pair(4));
    }
    return {ConcatEven(d, high, low), ConcatOdd(d, high, low)};
  }
}

/// Scatters lanes into complex numbers.
template <std::int64_t N, class Tag>
HWY_INLINE void scatter(Tag d, ComplexLanes a, Complex* const* to) {
  const auto at = [&](std::int64_t i) HWY_ATTR { return reinterpret_cast<double*>(to[i]); };
  if constexpr (N == 1) {
    *to[0] = {hn::GetLane(a.re), hn::GetLane(a.im)};
  } else {
    // Blocks of two doubles, from the even and from the odd lanes.
    const auto even = InterleaveLower(d, a.re, a.im);
    const auto odd = InterleaveUpper(d, a.re, a.im);
    if constexpr (N == 2) {
      hn::StoreU(even, d, at(0));
      hn::StoreU(odd, d, at(1));
    } else {
      const hn::Half<Tag> half;
      const auto store_halves = [&](auto blocks, std::int64_t i) HWY_ATTR {
        if constexpr (N == 4) {
          hn::StoreU(LowerHalf(half, blocks), half, at(i));
          hn::StoreU(UpperHalf(half, blocks), half, at(i + 2));
        } else {
          static_assert(N == 8);
          const hn::Half<decltype(half)> quarter;
          const auto store_quarters = [&](auto pair, std::int64_t j) HWY_ATTR {
            hn::StoreU(LowerHalf(quarter, pair), quarter, at(j));
            hn::StoreU(UpperHalf(quarter, pair), quarter, at(j + 2));
          };
          store_quarters(LowerHalf(half, blocks), i);
          store_quarters(UpperHalf(half, blocks), i + 4);
        }
      };
      store_halves(even, 0);
      store_halves(odd, 1);
    }
  }
}

/// Pointers to the modes of all lanes on one ring, advanced ring by ring; lanes without modes point
/// to `absent` on all rings.
template <class Value>
class RingOfLanes {
 public:
  RingOfLanes(const OrderRows<Value>& rows, Value* absent) {
    for (std::int64_t lane = 0; lane < width; ++lane) {
      Value* const row = rows.first[static_cast<std::size_t>(lane)];
      at_[lane] = row == nullptr ? absent : row;
      step_[lane] = row == nullptr ? 0 : rows.step;
      is_run_ = is_run_ && row != nullptr && row == rows.first[0] + lane;
    }
  }
  /// Returns whether the modes of all lanes are contiguous.
  bool is_run() const { return is_run_; }
  Value* const* from(std::int64_t lane) const { return at_ + lane; }
  void advance() {
    for (std::int64_t lane = 0; lane < width; ++lane) at_[lane] += step_[lane];
  }

 private:
  Value* at_[width];
  std::int64_t step_[width];
  bool is_run_ = true;
};

/// Calls whole(ring, lane) for squares of n_lanes rings by n_lanes lanes; returns the first ring
/// not covered.
template <class Whole>
HWY_INLINE std::int64_t for_each_square(std::int64_t n_rings, std::int64_t step,
                                        const Whole& whole) {
  std::int64_t ring = 0;
  if (step == 1) {
    for (; ring + n_lanes <= n_rings; ring += n_lanes) {
      for (std::int64_t lane = 0; lane < width; lane += n_lanes) whole(ring, lane);
    }
  }
  return ring;
}

/// Returns the rows from ring `first` on.
template <class Value>
OrderRows<Value> rest_of(const OrderRows<Value>& rows, std::int64_t first) {
  OrderRows<Value> rest = rows;
  for (Value*& row : rest.first) row = row == nullptr ? nullptr : row + first * rows.step;
  return rest;
}

void pack_orders(const OrderRows<const Complex>& rows, std::int64_t n_rings, double* block) {
  const auto whole = [&](std::int64_t ring, std::int64_t lane) HWY_ATTR {
    V re[std::size_t{n_lanes}];
    V im[std::size_t{n_lanes}];
    for (std::int64_t i = 0; i < n_lanes; ++i) {
      const Complex* row = rows.first[static_cast<std::size_t>(lane + i)];
      const ComplexLanes a = row == nullptr ? zero() : load_interleaved(row + ring);
      re[i] = a.re;
      im[i] = a.im;
    }
    transpose<n_lanes>(re);
    transpose<n_lanes>(im);
    double* to = block + ring * row_size + lane;
    for (std::int64_t i = 0; i < n_lanes; ++i) store({re[i], im[i]}, to + i * row_size, width);
  };
  std::int64_t ring = for_each_square(n_rings, rows.step, whole);
  const Complex none = 0;
  RingOfLanes<const Complex> lanes(rest_of(rows, ring), &none);
  for (; ring < n_rings; ++ring, lanes.advance()) {
    double* to = block + ring * row_size;
    for (std::int64_t lane = 0; lane < width; lane += n_lanes) {
      store(lanes.is_run() ? load_interleaved(*lanes.from(lane))
                           : gather<n_lanes>(D(), lanes.from(lane)),
            to + lane, width);
    }
  }
}

void unpack_orders(const double* block, std::int64_t n_rings, const OrderRows<Complex>& rows) {
  const auto whole = [&](std::int64_t ring, std::int64_t lane) HWY_ATTR {
    V re[std::size_t{n_lanes}];
    V im[std::size_t{n_lanes}];
    const double* from = block + ring * row_size + lane;
    for (std::int64_t i = 0; i < n_lanes; ++i) {
      const ComplexLanes a = load(from + i * row_size, width);
      re[i] = a.re;
      im[i] = a.im;
    }
    transpose<n_lanes>(re);
    transpose<n_lanes>(im);
    for (std::int64_t i = 0; i < n_lanes; ++i) {
      Complex* row = rows.first[static_cast<std::size_t>(lane + i)];
      if (row != nullptr) store_interleaved({re[i], im[i]}, row + ring);
    }
  };
  std::int64_t ring = for_each_square(n_rings, rows.step, whole);
  Complex nowhere;
  RingOfLanes<Complex> lanes(rest_of(rows, ring), &nowhere);
  for (; ring < n_rings; ++ring, lanes.advance()) {
    const double* from = block + ring * row_size;
    for (std::int64_t lane = 0; lane < width; lane += n_lanes) {
      const ComplexLanes a = load(from + lane, width);
      lanes.is_run() ? store_interleaved(a, *lanes.from(lane))
                     : scatter<n_lanes>(D(), a, lanes.from(lane));
    }
  }
}

}  // namespace ringweave::detail::inline legendre::columns::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ringweave::detail::inline legendre::columns {

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

}  // namespace ringweave::detail::inline legendre::columns
#endif
