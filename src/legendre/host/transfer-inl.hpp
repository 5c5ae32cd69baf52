// SPDX-License-Identifier: GPL-3.0-or-later
// Compiled once per instruction set: hwy/foreach_target.h toggles the guard.
#if defined(RINGWEAVE_LEGENDRE_HOST_TRANSFER_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef RINGWEAVE_LEGENDRE_HOST_TRANSFER_INL
#undef RINGWEAVE_LEGENDRE_HOST_TRANSFER_INL
#else
#define RINGWEAVE_LEGENDRE_HOST_TRANSFER_INL
#endif

#include <complex>

#include "legendre/host/sweep-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ringweave::detail::inline legendre::sweep::HWY_NAMESPACE {

template <class D>
HWY_INLINE hn::Vec<D> in_ring_order(D d, hn::Vec<D> v, bool south) {
  if constexpr (hn::MaxLanes(D()) > 1) {
    return south ? hn::Reverse(d, v) : v;
  } else {
    return v;
  }
}

/// Returns the factor of a map's odd sums on some pairs: z (or 1) for northern rings, negated for
/// southern ones.
template <class D>
HWY_INLINE hn::Vec<D> odd_factor(D d, const MapSums& map, std::int64_t pair, bool south) {
  const auto z = map.z == nullptr ? hn::Set(d, 1.0) : hn::LoadU(d, map.z + pair);
  return south ? hn::Neg(z) : z;
}

/// Calls part(tag, i, pair) for the rings i .. i + lanes - 1 of a run, whose first pair in memory
/// is `pair`: whole vectors, then single elements.
template <class Part>
HWY_INLINE void for_each_part(const RingRun& run, const Part& part) {
  const auto pair_at = [&](std::int64_t i, std::int64_t lanes) {
    return run.south ? run.first_pair - i - (lanes - 1) : run.first_pair + i;
  };
  std::int64_t i = 0;
  for (; i + n_lanes <= run.count; i += n_lanes) part(Lanes(), i, pair_at(i, n_lanes));
  for (; i < run.count; ++i) part(hn::CappedTag<double, 1>(), i, pair_at(i, 1));
}

void write_modes(const MapSums* maps, int n_maps, std::int64_t stride, const RingRun& run,
                 std::complex<double>* modes, std::int64_t n_components) {
  for_each_part(run, [&](auto d, std::int64_t i, std::int64_t pair) HWY_ATTR {
    constexpr std::int64_t lanes = static_cast<std::int64_t>(hn::MaxLanes(d));
    for (int k = 0; k < n_maps; ++k) {
      const MapSums& map = maps[k];
      const auto factor = odd_factor(d, map, pair, run.south);
      const double* even = map.even + pair;
      const double* odd = map.odd + pair;
      auto re = hn::MulAdd(factor, hn::LoadU(d, odd), hn::LoadU(d, even));
      auto im = hn::MulAdd(factor, hn::LoadU(d, odd + stride), hn::LoadU(d, even + stride));
      if (map.weight != nullptr) {
        const auto weight = hn::LoadU(d, map.weight + pair);
        re = hn::Mul(weight, re);
        im = hn::Mul(weight, im);
      }
      re = in_ring_order(d, re, run.south);
      im = in_ring_order(d, im, run.south);
      std::complex<double>* target = modes + i * n_components + map.component;
      if (n_components == 1) {
        StoreInterleaved2(re, im, d, reinterpret_cast<double*>(target));
        continue;
      }
      HWY_ALIGN double values[std::size_t{2 * lanes}];
      StoreInterleaved2(re, im, d, values);
      for (std::int64_t n = 0; n < lanes; ++n) {
        target[n * n_components] = {values[2 * n], values[2 * n + 1]};
      }
    }
  });
}

void read_modes(const MapSums* maps, int n_maps, std::int64_t stride, const RingRun& run,
                const std::complex<double>* modes, std::int64_t n_components, bool add) {
  for_each_part(run, [&](auto d, std::int64_t i, std::int64_t pair) HWY_ATTR {
    constexpr std::int64_t lanes = static_cast<std::int64_t>(hn::MaxLanes(d));
    for (int k = 0; k < n_maps; ++k) {
      const MapSums& map = maps[k];
      const std::complex<double>* source = modes + i * n_components + map.component;
      hn::Vec<decltype(d)> re;
      hn::Vec<decltype(d)> im;
      if (n_components == 1) {
        LoadInterleaved2(d, reinterpret_cast<const double*>(source), re, im);
      } else {
        HWY_ALIGN double values[std::size_t{2 * lanes}];
        for (std::int64_t n = 0; n < lanes; ++n) {
          values[2 * n] = source[n * n_components].real();
          values[2 * n + 1] = source[n * n_components].imag();
        }
        LoadInterleaved2(d, values, re, im);
      }
      re = in_ring_order(d, re, run.south);
      im = in_ring_order(d, im, run.south);
      if (map.weight != nullptr) {
        const auto weight = hn::LoadU(d, map.weight + pair);
        re = hn::Mul(weight, re);
        im = hn::Mul(weight, im);
      }
      const auto factor = odd_factor(d, map, pair, run.south);
      double* even = map.even + pair;
      double* odd = map.odd + pair;
      const auto deliver = [&](hn::Vec<decltype(d)> value, double* sums) HWY_ATTR {
        hn::StoreU(add ? hn::Add(hn::LoadU(d, sums), value) : value, d, sums);
      };
      deliver(re, even);
      deliver(im, even + stride);
      deliver(hn::Mul(factor, re), odd);
      deliver(hn::Mul(factor, im), odd + stride);
    }
  });
}

}  // namespace ringweave::detail::inline legendre::sweep::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
