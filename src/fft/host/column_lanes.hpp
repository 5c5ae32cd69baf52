// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <complex>
#include <cstdint>

#include "fft/host/column_plan.hpp"
#include "fft/host/lane_rings.hpp"

namespace ringweave {

/// As many transforms of awkward lengths as a vector has lanes, one in each lane; element k of a
/// lane lies at in + k in_stride. Transforms of two lengths may share a vector where their
/// convolutions have one length.
struct ColumnLanes {
  template <class T>
  using PerLane = std::array<T, lane_rings::most_lanes>;

  const ColumnTransform* first = nullptr;   ///< of the first n_first lanes
  const ColumnTransform* second = nullptr;  ///< of the others, not longer than the first
  std::int64_t n_first = 0;
  PerLane<const std::complex<double>*> in{};
  PerLane<std::complex<double>*> out{};
  PerLane<std::int64_t> in_stride{};
  PerLane<std::int64_t> out_stride{};
};

/// Tables of a ColumnTransform by convolution.
struct Chirp {
  const std::complex<double>* values = nullptr;    ///< [length], u_j
  const std::complex<double>* response = nullptr;  ///< [convolution->length], transform of conj(u)
                                                   ///< over its length, in the passes' order
};

/// The transforms of length n_rows that finish those of the columns, neighbouring columns' in the
/// lanes of a vector.
struct RowLanes {
  const LaneTransform* fft = nullptr;  ///< of n_rows
  std::int64_t n_columns = 0;
  const double* twiddles = nullptr;  ///< see column_lanes::make_twiddles()
};

namespace column_lanes {

/// Elements of rows that are transformed together, unless a row has more.
inline constexpr std::int64_t most_together = 64;

/// Scratch of the transforms, each [length][re, im][lane].
struct Scratch {
  double* data;   ///< of the longest convolution or other FFT, but not less than most_together
  double* other;  ///< the same without convolutions
};
/// Doubles in either array for that length.
std::int64_t scratch_size(std::int64_t length) noexcept;

/// sum_j in_j exp(+2 pi i j k / length) in the order of the convolution's passes.
///
/// in, out  [length]
/// data     of scratch_size(length / 8) at least
void spectrum(const LaneConvolution& convolution, const std::complex<double>* in,
              std::complex<double>* out, double* data) noexcept;

/// out_j = sum_k in_k exp(+2 pi i j k / length) in every lane. Lanes may write where they read.
/// `first` and `second` are those of the transforms of `columns`, where they are convolutions.
void transform_columns(const ColumnLanes& columns, const Chirp& first, const Chirp& second,
                       Scratch scratch) noexcept;

/// Doubles in the table of make_twiddles().
std::int64_t twiddle_size(std::int64_t n_rows, std::int64_t n_columns) noexcept;
/// exp(2 pi i c j / (n_rows n_columns)) for row c and column j, as
/// [j / lanes][c][re, im][j % lanes], from
/// fine    [c][re, im][j], j < lanes
/// coarse  [j / lanes][c], that of the first j
void make_twiddles(const double* fine, const std::complex<double>* coarse, std::int64_t n_rows,
                   std::int64_t n_columns, double* twiddles) noexcept;

/// out[j + n_columns q] = sum_c in[j n_rows + c] twiddle_{c, j} exp(+2 pi i c q / n_rows).
void transform_rows(const RowLanes& rows, const std::complex<double>* in, std::complex<double>* out,
                    Scratch scratch) noexcept;

}  // namespace column_lanes
}  // namespace ringweave
