// SPDX-License-Identifier: GPL-3.0-or-later
// Included once for every instruction set, after hwy/foreach_target.h.
#if defined(RINGWEAVE_NONUNIFORM_TAP_LANES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef RINGWEAVE_NONUNIFORM_TAP_LANES_INL
#undef RINGWEAVE_NONUNIFORM_TAP_LANES_INL
#else
#define RINGWEAVE_NONUNIFORM_TAP_LANES_INL
#endif

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"
#include "nonuniform/tap_polynomials.hpp"

HWY_BEFORE_NAMESPACE();
namespace ringweave::detail::inline nonuniform::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Computes all taps at several offsets as tap_value() does: the polynomials of half of them, one
/// tap per lane, and from these the taps and their mirror images. `half` is that of the
/// polynomials.
template <int half>
class TapLanes {
  static constexpr int lanes = static_cast<int>(hn::MaxLanes(hn::CappedTag<double, 8>()));
  /// Tells whether even and odd polynomials share a vector: four taps in half of it.
  static constexpr bool has_both_in_one = lanes == 2 * half;
  static constexpr bool has_last_in_one = lanes == 8;

 public:
  HWY_INLINE explicit TapLanes(const TapPolynomials& taps) : taps_(taps) {
    for (int lane = 0; lane < 8; ++lane) {
      const int tap = 2 * half - 8 + lane;
      const int mirrored = std::max(taps.width - 1 - tap, 0);
      last_lanes_[static_cast<std::size_t>(lane)] = std::min(tap, mirrored);
      last_signs_[static_cast<std::size_t>(lane)] = tap <= mirrored ? 1 : -1;
    }
  }

  /// at  at(i) is where the taps at offset i go, padded_width() values; those beyond the taps must
  ///     be zero, and remain
  template <class At>
  HWY_INLINE void compute(const double* HWY_RESTRICT offsets, std::int64_t n_offsets,
                          const At& at) const {
    // Several at a time: one waits for its products.
    constexpr int n_together = lanes == 8 ? 4 : 1;
    std::int64_t i = 0;
    for (; i + n_together <= n_offsets; i += n_together) compute_some<n_together>(offsets, i, at);
    for (; i < n_offsets; ++i) compute_some<1>(offsets, i, at);
  }

 private:
  template <int n, class At>
  HWY_INLINE void compute_some(const double* HWY_RESTRICT offsets, std::int64_t first,
                               const At& at) const {
    if constexpr (has_both_in_one) {
      compute_one_vector<n>(offsets, first, at);
    } else {
      compute_vectors<n>(offsets, first, at);
    }
  }

  template <int n, class At>
  HWY_INLINE void compute_one_vector(const double* HWY_RESTRICT offsets, std::int64_t first,
                                     const At& at) const {
    const hn::CappedTag<double, 8> d;
    using V = hn::Vec<decltype(d)>;
    const double* HWY_RESTRICT row = taps_.coefficients + (taps_.n_terms - 1) * lanes;
    V square[std::size_t{n}];
    V both[std::size_t{n}];
#pragma GCC unroll 8
    for (int k = 0; k < n; ++k) {
      const double x = offsets[first + k];
      square[k] = hn::Set(d, x * x);
      both[k] = hn::Load(d, row);
    }
    while (row != taps_.coefficients) {
      row -= lanes;
      const V coefficients = hn::Load(d, row);
#pragma GCC unroll 8
      for (int k = 0; k < n; ++k) both[k] = hn::MulAdd(both[k], square[k], coefficients);
    }
    const hn::RebindToSigned<decltype(d)> numbers;
    const auto from = hn::Load(numbers, last_lanes_.data());
    const auto from_odd = hn::IndicesFromVec(d, hn::Add(from, hn::Set(numbers, half)));
    const auto from_even = hn::IndicesFromVec(d, from);
    const V signs = hn::Load(d, last_signs_.data());
    const auto is_tap = hn::FirstN(d, static_cast<std::size_t>(taps_.width));
#pragma GCC unroll 8
    for (int k = 0; k < n; ++k) {
      const V even = hn::TableLookupLanes(both[k], from_even);
      const V odd = hn::TableLookupLanes(both[k], from_odd);
      const V offset = hn::Mul(hn::Set(d, offsets[first + k]), signs);
      hn::StoreU(hn::IfThenElseZero(is_tap, hn::MulAdd(offset, odd, even)), d, at(first + k));
    }
  }

  template <int n, class At>
  HWY_INLINE void compute_vectors(const double* HWY_RESTRICT offsets, std::int64_t first,
                                  const At& at) const {
    const hn::CappedTag<double, std::size_t{half}> d;
    constexpr int n_vectors = half / static_cast<int>(hn::MaxLanes(d));
    constexpr int n_lanes = half / n_vectors;
    using V = hn::Vec<decltype(d)>;
    const double* HWY_RESTRICT row = taps_.coefficients + (taps_.n_terms - 1) * 2 * half;
    V square[std::size_t{n}];
    V even[std::size_t{n}][std::size_t{n_vectors}];
    V odd[std::size_t{n}][std::size_t{n_vectors}];
#pragma GCC unroll 8
    for (int k = 0; k < n; ++k) {
      const double x = offsets[first + k];
      square[k] = hn::Set(d, x * x);
#pragma GCC unroll 8
      for (int v = 0; v < n_vectors; ++v) {
        even[k][v] = hn::Load(d, row + v * n_lanes);
        odd[k][v] = hn::Load(d, row + half + v * n_lanes);
      }
    }
    while (row != taps_.coefficients) {
      row -= 2 * half;
#pragma GCC unroll 8
      for (int k = 0; k < n; ++k) {
#pragma GCC unroll 8
        for (int v = 0; v < n_vectors; ++v) {
          even[k][v] = hn::MulAdd(even[k][v], square[k], hn::Load(d, row + v * n_lanes));
          odd[k][v] = hn::MulAdd(odd[k][v], square[k], hn::Load(d, row + half + v * n_lanes));
        }
      }
    }
#pragma GCC unroll 8
    for (int k = 0; k < n; ++k) {
      const V offset = hn::Set(d, offsets[first + k]);
      double* const values = at(first + k);
#pragma GCC unroll 8
      for (int v = 0; v < n_vectors; ++v) {
        const V mirrored = hn::NegMulAdd(offset, odd[k][v], even[k][v]);
        if constexpr (has_last_in_one) {
          const auto is_tap = hn::FirstN(d, static_cast<std::size_t>(taps_.width - half));
          const V last = hn::TableLookupLanes(mirrored, hn::SetTableIndices(d, last_lanes_.data()));
          hn::StoreU(hn::IfThenElseZero(is_tap, last), d, values + half);
        } else if (taps_.width > half) {
          // The halves overlap, with the same taps.
          hn::StoreU(hn::Reverse(d, mirrored), d, values + taps_.width - (v + 1) * n_lanes);
        }
        hn::StoreU(hn::MulAdd(offset, odd[k][v], even[k][v]), d, values + v * n_lanes);
      }
    }
  }

  TapPolynomials taps_;
  // Of the last eight taps, where they or their mirror images are, and whether they are mirrored.
  HWY_ALIGN std::array<std::int64_t, 8> last_lanes_{};
  HWY_ALIGN std::array<double, 8> last_signs_{};
};

}  // namespace ringweave::detail::inline nonuniform::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
