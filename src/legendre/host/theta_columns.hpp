// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>

#include "legendre/host/theta_fft.hpp"
#include "ringweave/grid.hpp"

// SIMD parts of theta resampling other than the FFTs: coefficients from and to half transforms,
// interpolation and spreading, each with its exact transpose.
namespace ringweave::detail::inline legendre::columns {

/// Entries k and k' = length - k of a half transform V (ThetaFft of the even samples), and the
/// corresponding coefficients c_k, c_k'.
struct CoefficientPair {
  std::int64_t rows[2];       ///< rows of V_k and V_k', later of c_k and c_k'
  std::complex<double> root;  ///< z = exp(-i pi k / (2 length))
  double scale[2];            ///< for both coefficients
};

/// An entry that is its own partner: c = scale (root + parity conj(root)) V.
struct CoefficientAlone {
  std::int64_t row;
  std::complex<double> root;
  double scale;
};

struct CoefficientTable {
  const CoefficientPair* pairs;
  std::int64_t n_pairs;
  const CoefficientAlone* alone;
  std::int64_t n_alone;
};

/// Factors that differ between the columns.
struct Columns {
  const double* parity;  ///< [column], 1 or -1
  const double* factor;  ///< [column], of all its coefficients
};

/// Replaces V by c in `rows`: c_k = f s (z V_k + p conj(z) V_k'), c_k' = i f p s' (z V_k - p
/// conj(z) V_k').
void to_coefficients(const CoefficientTable& table, const Columns& columns, double* rows) noexcept;
/// Applies the transpose.
void from_coefficients(const CoefficientTable& table, const Columns& columns,
                       double* rows) noexcept;

/// Entries k and k' = length - k of a finer half transform U, and the rows of the coefficients c_k,
/// c_k'; c_k' is zero from n_full on, and so is U from n_half on.
struct SpreadPair {
  std::int64_t coefficients[2];  ///< rows of c
  std::int64_t rows[2];          ///< rows of U
  std::complex<double> root;     ///< e = exp(i pi k / (2 length))
};
/// U = (e + parity conj(e)) c; U = 0 if there is no coefficient.
struct SpreadAlone {
  std::int64_t coefficient;  ///< negative: none
  std::int64_t row;
  std::complex<double> root;
};

struct SpreadTable {
  const SpreadPair* pairs;
  std::int64_t n_full;
  std::int64_t n_half;
  std::int64_t n_pairs;
  const SpreadAlone* alone;
  std::int64_t n_alone;
};

/// Overwrites fine: U_k = e (c_k - i p c_k'), U_k' = p conj(e) (c_k + i p c_k').
void spread_coefficients(const SpreadTable& table, const double* parity, const double* rows,
                         double* fine) noexcept;
/// Applies the transpose; writes only rows that hold a coefficient.
void collect_coefficients(const SpreadTable& table, const double* parity, const double* fine,
                          double* rows) noexcept;

constexpr std::int64_t taps = 16;              ///< fine samples that contribute to a ring
constexpr std::int64_t tile = 4;               ///< fine samples per spreading step
constexpr std::int64_t ghosts = taps / 4 + 1;  ///< rows repeated at both ends of the fine rows

/// Kernel values for every ring. Fine sample j is at (j + 1/2) / length of [0, pi]; -taps/2 <= j <
/// length + taps/2.
struct TapTable {
  std::int64_t length;    ///< fine samples, a multiple of `tile`
  const double* weights;  ///< for ring r and fine sample j at offset[r] + j; zero for up to tile -
                          ///< 1 samples beyond the taps
  const std::int64_t* offset;  ///< [ring]
  const std::int64_t* first;   ///< [ring], the first contributing fine sample
  const RingRange* touching;   ///< [tile], from j = -taps / 2: rings that touch it
};

/// Computes values[ring] = sum over taps of weight times fine sample, for the rings within `kept`.
/// fine  even samples of the doubled circle [length + 2 ghosts][row]; fills the ghosts
void interpolate(const TapTable& table, const double* parity, RingRange kept, double* fine,
                 double* values) noexcept;
/// Applies the transpose; values outside `kept` count as zero; overwrites fine except its ghosts.
void spread(const TapTable& table, const double* parity, RingRange kept, const double* values,
            double* fine) noexcept;

}  // namespace ringweave::detail::inline legendre::columns
