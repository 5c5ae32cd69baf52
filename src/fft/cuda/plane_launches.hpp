// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "base/cuda/arithmetic.hpp"
#include "base/cuda/block_types.hpp"
#include "base/cuda/row_pieces.hpp"
#include "base/host_device.hpp"

namespace ringweave::detail::gpu {

/// Planes of rows in memory.
template <class T>
struct PlaneRows {
  T* values;
  std::int64_t plane_stride;
  std::int64_t row_stride;

  RINGWEAVE_HOST_DEVICE T& at(std::int64_t plane, std::int64_t y, std::int64_t x) const {
    return values[plane * plane_stride + y * row_stride + x];
  }
};

/// Numbers [begin, end) of an axis.
struct ValueRange {
  std::int64_t begin;
  std::int64_t end;

  RINGWEAVE_HOST_DEVICE bool has(std::int64_t i) const { return i >= begin && i < end; }
};

/// Writes the padded, reordered and reflected planes that FFTs take.
struct PadPlanes {
  using Shared = NoShared;
  static constexpr int least_blocks = 8;
  RowPieces pieces;  ///< a row for each padded plane
  std::int64_t x_length;
  const std::int32_t* x_sources;
  const std::int32_t* y_sources;
  ValueRange x_given;
  ValueRange y_given;
  PlaneRows<const double> from;
  double* padded;

  template <class Block>
  RINGWEAVE_LAUNCH void operator()(const Block& block, Shared&) const {
    pieces.each(block, [&](std::int64_t plane, std::int64_t i) {
      const Quotient at = divide(i, x_length);
      const std::int64_t y = y_sources[at.whole];
      const std::int64_t x = x_sources[at.rest];
      double value = 0;
      if (y_given.has(y) && x_given.has(x)) value = from.at(plane, y, x);
      padded[plane * pieces.row_length + i] = value;
    });
  }
};

/// Writes the values that result, or adds them.
template <bool adds>
struct CropPlanes {
  using Shared = NoShared;
  static constexpr int least_blocks = 8;
  RowPieces pieces;  ///< a row for each plane of results
  std::int64_t n_x;
  const std::int32_t* x_places;
  const std::int32_t* y_places;
  PlaneRows<const double> padded;
  PlaneRows<double> to;

  template <class Block>
  RINGWEAVE_LAUNCH void operator()(const Block& block, Shared&) const {
    pieces.each(block, [&](std::int64_t plane, std::int64_t i) {
      const Quotient at = divide(i, n_x);
      const double value = padded.at(plane, y_places[at.whole], x_places[at.rest]);
      double& result = to.at(plane, at.whole, at.rest);
      result = adds ? result + value : value;
    });
  }
};

/// Multiplies spectra of real planes by a real multiplier, and by the turns of cosine axes (see
/// fft/host/plane_filter.cpp). A thread has a number and its partner along y.
template <bool x_cosine, bool y_cosine, bool adds>
struct MultiplySpectra {
  using Shared = NoShared;
  static constexpr int least_blocks = 6;
  RowPieces pieces;  ///< a row for each plane, of its pairs [q][p], q <= y_length / 2
  std::int64_t n_numbers;
  std::int64_t n_frequencies;  ///< of a row of the multiplier
  std::int64_t x_length;
  std::int64_t y_length;
  const double* multiplier;
  double scale;
  const Double2* x_turns;
  const Double2* y_turns;
  const Double2* spectra;
  Double2* sums;

  static double scale_of(double weight) {
    return weight * (x_cosine ? 0.5 : 1.0) * (y_cosine ? 0.5 : 1.0);
  }

  template <class Block>
  RINGWEAVE_LAUNCH void operator()(const Block& block, Shared&) const {
    pieces.each(block, [&](std::int64_t plane, std::int64_t i) {
      const Quotient at = divide(i, n_numbers);
      const std::int64_t partner = at.whole == 0 ? 0 : y_length - at.whole;
      const std::int64_t first = plane * y_length;
      const std::int64_t here = (first + at.whole) * n_numbers + at.rest;
      const std::int64_t there = (first + partner) * n_numbers + at.rest;
      const Factors factors = factors_of(at.whole, partner, at.rest);
      const Double2 a = spectra[here];
      const Double2 b = spectra[there];
      const Double2 x_turn = x_cosine ? x_turns[at.rest] : Double2{0, 0};
      const Double2 y_turn = y_cosine ? y_turns[at.whole] : Double2{0, 0};
      Double2 new_a = multiplied(factors, a, b, x_turn, y_turn);
      Double2 new_b = multiplied(factors, b, a, x_turn, conjugate(y_turn));
      // Both sums are read before one is written: a number may be its own partner.
      if constexpr (adds) {
        new_a = sum(new_a, sums[here]);
        new_b = sum(new_b, sums[there]);
      }
      sums[here] = new_a;
      sums[there] = new_b;
    });
  }

 private:
  struct Factors {
    double same;
    double mirrored;
    double turned;
    double turned_mirrored;
  };

  RINGWEAVE_HOST_DEVICE Factors factors_of(std::int64_t q, std::int64_t partner,
                                           std::int64_t p) const {
    const double* const row = multiplier + q * n_frequencies;
    const std::int64_t mirror = x_cosine && p > 0 ? x_length - p : 0;
    const double a = scale * row[p];
    const double b = x_cosine ? scale * row[mirror] : 0;
    if constexpr (!y_cosine) return {a + b, a - b, 0, 0};
    const double* const other = multiplier + partner * n_frequencies;
    const double other_a = scale * other[p];
    const double other_b = x_cosine ? scale * other[mirror] : 0;
    const double sum_a = a + other_a;
    const double sum_b = b + other_b;
    const double gap_a = a - other_a;
    const double gap_b = b - other_b;
    return {sum_a + sum_b, sum_a - sum_b, gap_a + gap_b, gap_a - gap_b};
  }

  static RINGWEAVE_HOST_DEVICE Double2 multiplied(const Factors& factors, Double2 here,
                                                  Double2 there, Double2 x_turn, Double2 y_turn) {
    Double2 result = scaled(factors.same, here);
    if constexpr (x_cosine)
      result = sum(result, conjugate_product(there, scaled(factors.mirrored, x_turn)));
    if constexpr (y_cosine) {
      Double2 turned = scaled(factors.turned, there);
      if constexpr (x_cosine)
        turned = sum(turned, conjugate_product(here, scaled(factors.turned_mirrored, x_turn)));
      result = sum(result, product(y_turn, turned));
    }
    return result;
  }
};

}  // namespace ringweave::detail::gpu
