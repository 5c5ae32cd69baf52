// SPDX-License-Identifier: GPL-3.0-or-later
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "convolve/ring/host/mode_sum.cpp"
#include "convolve/ring/host/mode_sum.hpp"

#include "base/simd/instruction_sets.hpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace ringweave::detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, 8>;
using V = hn::Vec<D>;
constexpr std::int64_t n_vector = static_cast<std::int64_t>(hn::MaxLanes(D()));
// Two vectors of orders, and as many pairs as leave registers for the other operands.
constexpr std::int64_t pairs_in_registers = n_vector >= 8 ? mode_sum::pairs : mode_sum::pairs / 2;

/// Kernel modes of pairs for two vectors of orders.
using Rows = V[pairs_in_registers][2];

/// Sums samples times cosines, for pairs from `from` and orders from `order`.
HWY_INLINE void sum(const mode_sum::Tile& tile, const double* cosines, std::int64_t from,
                    std::int64_t order, Rows& k) {
  const D d;
#pragma GCC unroll 12
  for (std::int64_t p = 0; p < pairs_in_registers; ++p) k[p][0] = k[p][1] = hn::Zero(d);
  const double* sample = tile.samples + from;
  const double* cosine = cosines + order;
  for (std::int64_t j = 0; j < tile.n_samples; ++j) {
    const V c0 = hn::Load(d, cosine);
    const V c1 = hn::Load(d, cosine + n_vector);
#pragma GCC unroll 12
    for (std::int64_t p = 0; p < pairs_in_registers; ++p) {
      const V s = hn::Set(d, sample[p]);
      k[p][0] = hn::MulAdd(s, c0, k[p][0]);
      k[p][1] = hn::MulAdd(s, c1, k[p][1]);
    }
    sample += mode_sum::pairs;
    cosine += mode_sum::orders;
  }
}

HWY_INLINE void read(const double* rows, std::int64_t from, std::int64_t order, Rows& k) {
  const double* row = rows + from * mode_sum::orders + order;
#pragma GCC unroll 12
  for (std::int64_t p = 0; p < pairs_in_registers; ++p) {
    k[p][0] = hn::Load(D(), row + p * mode_sum::orders);
    k[p][1] = hn::Load(D(), row + p * mode_sum::orders + n_vector);
  }
}

HWY_INLINE void multiply(const mode_sum::Tile& tile, const Rows& k, std::int64_t n_channels,
                         const double* in, double* out, std::int64_t from, std::int64_t order) {
  const D d;
  const std::int64_t row = n_channels * mode_sum::orders;
  const std::int64_t step = tile.step * row;
  const double* in_ring = in + tile.ring * row + order;
  double* out_ring = out + tile.ring * row + order;
  const std::int64_t partner = (tile.first + from * tile.step) * row;
  for (std::int64_t c = 0; c < n_channels; ++c) {
    const V x0 = hn::Load(d, in_ring);
    const V x1 = hn::Load(d, in_ring + n_vector);
    V y0 = hn::Load(d, out_ring);
    V y1 = hn::Load(d, out_ring + n_vector);
    const double* in_partner = in_ring + partner;
    double* out_partner = out_ring + partner;
#pragma GCC unroll 12
    for (std::int64_t p = 0; p < pairs_in_registers; ++p) {
      y0 = hn::MulAdd(k[p][0], hn::Load(d, in_partner), y0);
      y1 = hn::MulAdd(k[p][1], hn::Load(d, in_partner + n_vector), y1);
      hn::Store(hn::MulAdd(k[p][0], x0, hn::Load(d, out_partner)), d, out_partner);
      hn::Store(hn::MulAdd(k[p][1], x1, hn::Load(d, out_partner + n_vector)), d,
                out_partner + n_vector);
      in_partner += step;
      out_partner += step;
    }
    // Stored last, over the result of the ring's pair with itself: that product counts once.
    hn::Store(y0, d, out_ring);
    hn::Store(y1, d, out_ring + n_vector);
    in_ring += mode_sum::orders;
    out_ring += mode_sum::orders;
  }
}

/// Runs work(from, order) for every part of a tile that fits the registers.
template <class Work>
HWY_INLINE void for_each_part(const Work& work) {
  for (std::int64_t from = 0; from < mode_sum::pairs; from += pairs_in_registers) {
    for (std::int64_t order = 0; order < mode_sum::orders; order += 2 * n_vector) work(from, order);
  }
}

HWY_NOINLINE void add_tile(const mode_sum::Tile& tile, const double* cosines,
                           std::int64_t n_channels, const double* in, double* out) {
  for_each_part([&](std::int64_t from, std::int64_t order) HWY_ATTR {
    Rows k;
    sum(tile, cosines, from, order, k);
    multiply(tile, k, n_channels, in, out, from, order);
  });
}

HWY_NOINLINE void add_rows(const mode_sum::Tile& tile, const double* rows, std::int64_t n_channels,
                           const double* in, double* out) {
  for_each_part([&](std::int64_t from, std::int64_t order) HWY_ATTR {
    Rows k;
    read(rows, from, order, k);
    multiply(tile, k, n_channels, in, out, from, order);
  });
}

HWY_NOINLINE void sum_rows(const mode_sum::Tile& tile, const double* cosines, double* rows) {
  for_each_part([&](std::int64_t from, std::int64_t order) HWY_ATTR {
    Rows k;
    sum(tile, cosines, from, order, k);
    double* row = rows + from * mode_sum::orders + order;
#pragma GCC unroll 12
    for (std::int64_t p = 0; p < pairs_in_registers; ++p) {
      hn::Store(k[p][0], D(), row + p * mode_sum::orders);
      hn::Store(k[p][1], D(), row + p * mode_sum::orders + n_vector);
    }
  });
}

}  // namespace ringweave::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ringweave::detail::inline convolve {

HWY_EXPORT(add_tile);
HWY_EXPORT(add_rows);
HWY_EXPORT(sum_rows);

namespace mode_sum {

void add(const Tile& tile, const double* cosines, std::int64_t n_channels, const double* in,
         double* out) noexcept {
  HWY_DYNAMIC_DISPATCH(add_tile)(tile, cosines, n_channels, in, out);
}

void add_rows(const Tile& tile, const double* rows, std::int64_t n_channels, const double* in,
              double* out) noexcept {
  HWY_DYNAMIC_DISPATCH(add_rows)(tile, rows, n_channels, in, out);
}

void sum_rows(const Tile& tile, const double* cosines, double* rows) noexcept {
  HWY_DYNAMIC_DISPATCH(sum_rows)(tile, cosines, rows);
}

}  // namespace mode_sum
}  // namespace ringweave::detail::inline convolve
#endif
