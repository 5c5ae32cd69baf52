// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <complex>
#include <cstdint>

#include "fft/host/column_plan.hpp"
#include "fft/host/lane_rings.hpp"

namespace ringweave::detail::inline fft {

/// Transforms of awkward lengths, one for each lane of a vector; element k of a lane is at in + k
/// in_stride. Transforms of two lengths may share a vector if their convolutions have the same
/// length.
struct ColumnLanes {
  struct Lane {
    const std::complex<double>* in = nullptr;
    std::complex<double>* out = nullptr;
    std::int64_t in_stride = 0;
    std::int64_t out_stride = 0;
  };

  const ColumnTransform* first = nullptr;   ///< for the first n_first lanes
  const ColumnTransform* second = nullptr;  ///< for the others, not longer than the first
  std::int64_t n_first = 0;
  std::array<Lane, lane_rings::most_lanes> lanes{};
};

/// Tables of a ColumnTransform that is a convolution.
struct Chirp {
  const std::complex<double>* values = nullptr;    ///< [length], u_j
  const std::complex<double>* response = nullptr;  ///< [convolution->length], transform of conj(u)
                                                   ///< divided by its length, in the order of the
                                                   ///< passes
};

/// Transforms of length n_rows that follow those of the columns, with neighbouring columns in the
/// lanes of a vector.
struct RowLanes {
  const LaneTransform* fft = nullptr;  ///< of n_rows
  std::int64_t n_columns = 0;
  const double* twiddles = nullptr;  ///< see column_lanes::make_twiddles()
};

namespace column_lanes {

/// Elements of rows that are transformed together, unless a single row has more.
inline constexpr std::int64_t most_together = 64;

/// Scratch of the transforms, each [length][re, im][lane].
struct Scratch {
  double* data;   ///< for the longest convolution or other FFT, and at least most_together
  double* other;  ///< the same without convolutions
};
/// Returns the doubles in either array for that length.
std::int64_t scratch_size(std::int64_t length) noexcept;

/// Computes sum_j in_j exp(+2 pi i j k / length) in the order of the convolution's passes.
///
/// in, out  [length]
/// data     at least scratch_size(length / 8)
void spectrum(const LaneConvolution& convolution, const std::complex<double>* in,
              std::complex<double>* out, double* data) noexcept;

/// Computes out_j = sum_k in_k exp(+2 pi i j k / length) in every lane. A lane may be transformed
/// in place. `first` and `second` are the chirps of the transforms of `columns` that are
/// convolutions.
void transform_columns(const ColumnLanes& columns, const Chirp& first, const Chirp& second,
                       Scratch scratch) noexcept;

/// Returns the number of doubles in the table of make_twiddles().
std::int64_t twiddle_size(std::int64_t n_rows, std::int64_t n_columns) noexcept;
/// Computes exp(2 pi i c j / (n_rows n_columns)) for row c and column j, as [j / lanes][c][re,
/// im][j % lanes], from
/// fine    [c][re, im][j], j < lanes
/// coarse  [j / lanes][c], for the first j
void make_twiddles(const double* fine, const std::complex<double>* coarse, std::int64_t n_rows,
                   std::int64_t n_columns, double* twiddles) noexcept;

/// Computes out[j + n_columns q] = sum_c in[j n_rows + c] twiddle_{c, j} exp(+2 pi i c q / n_rows).
void transform_rows(const RowLanes& rows, const std::complex<double>* in, std::complex<double>* out,
                    Scratch scratch) noexcept;

}  // namespace column_lanes
}  // namespace ringweave::detail::inline fft
