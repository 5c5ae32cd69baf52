// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>
#include <span>

#include "fft/host/ring_spectrum.hpp"

namespace ringweave::detail::inline fft {

/// As many rings (or components of a ring) of one even, smooth length as a vector has lanes, one
/// per lane. Every step from modes to pixels is then the same few vector operations for all of
/// them, and the modes of neighbouring rings, which are contiguous in the rows, are loaded without
/// a transposition.
struct LaneRings {
  std::int64_t n_phi = 0;
  std::int64_t n_modes = 0;
  std::span<const int> radices;                 ///< of n_phi / 2
  const std::complex<double>* roots = nullptr;  ///< [n_phi/4 + 1], exp(2 pi i k / n_phi)
  const std::complex<double>* turns = nullptr;  ///< [n_phi/2], exp(4 pi i k / n_phi)
  /// exp(i m phi0) = coarse[m / 64] fine[m % 64], [k][re, im][lane]; null: phi0 = 0 in all lanes.
  const double* fine_phases = nullptr;
  const double* coarse_phases = nullptr;
  double* bins = nullptr;     ///< scratch, [n_phi/2 + 1][re, im][lane]
  double* scratch = nullptr;  ///< same shape
};

namespace lane_rings {

inline constexpr std::int64_t n_fine_phases = 64;
inline constexpr std::int64_t most_lanes = 8;

/// Returns the number of doubles in a vector of this machine.
std::int64_t n_lanes() noexcept;

/// Computes pixels from modes.
/// modes   [n_modes], pointers to the lanes' modes of each order, contiguous; null: all zero
/// pixels  [lane], n_phi pixels each; null: an unused lane
template <class T>
void synthesize(const LaneRings& rings, const std::complex<double>* const* modes,
                T* const* pixels) noexcept;

/// Applies the transpose.
/// pixels   [lane], n_phi pixels each; none null
/// weights  [lane], factors of the modes
/// modes    [n_modes], where to write the lanes' modes of each order; null: not written
template <class T>
void adjoint(const LaneRings& rings, const T* const* pixels, const double* weights,
             std::complex<double>* const* modes) noexcept;

/// Replaces the rings' pixels by their spectra in the format of RingSpectra.
/// pixels  [lane]; null: an unused lane
template <class T>
void to_spectra(const LaneRings& rings, T* const* pixels) noexcept;

/// Replaces modes by the result of an operator of RingSpectra on spectra and modes.
/// spectra  [lane], none null; a null pointer for adjoint_of_synthesis
/// weights  [lane], factors of the modes
/// modes    [n_modes], pointers to the lanes' modes of each order; null: zero, and not written
/// squares  [lane], set to the sum of squares of the pixels whose spectrum is folded back
template <class T>
void fold_back(SpectrumOperator what, const LaneRings& rings, const T* const* spectra,
               const double* weights, std::complex<double>* const* modes, double* squares) noexcept;

}  // namespace lane_rings
}  // namespace ringweave::detail::inline fft
