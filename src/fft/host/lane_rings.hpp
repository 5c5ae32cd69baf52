// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>
#include <span>

#include "fft/host/ring_spectrum.hpp"

namespace ringweave {

/// As many rings (or components of a ring) of one even, smooth length as a vector has lanes, one in
/// each lane: every step from the modes to the pixels is then the same few vector operations for
/// all of them, and the modes of neighbouring rings, which lie side by side in the rows, are read
/// as they lie.
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
  double* scratch = nullptr;  ///< the same
};

namespace lane_rings {

inline constexpr std::int64_t n_fine_phases = 64;
inline constexpr std::int64_t most_lanes = 8;

/// Doubles in a vector of this machine.
std::int64_t n_lanes() noexcept;

/// modes   [n_modes], where the lanes' modes of each order lie, side by side; null: all zero
/// pixels  [lane], each lane's n_phi pixels; null: an unused lane
template <class T>
void synthesize(const LaneRings& rings, const std::complex<double>* const* modes,
                T* const* pixels) noexcept;

/// pixels   [lane], each lane's n_phi pixels; none null
/// weights  [lane], multiplied to the modes
/// modes    [n_modes], where to write the lanes' modes of each order; null: nowhere
template <class T>
void adjoint(const LaneRings& rings, const T* const* pixels, const double* weights,
             std::complex<double>* const* modes) noexcept;

/// The rings' spectra in place of their pixels, as RingSpectra has them.
/// pixels  [lane]; null: an unused lane
template <class T>
void to_spectra(const LaneRings& rings, T* const* pixels) noexcept;

/// What RingSpectra makes of spectra and modes in place of the modes.
/// spectra  [lane], none null; the whole null for adjoint_of_synthesis
/// weights  [lane], multiplied to the modes
/// modes    [n_modes], where the lanes' modes of each order lie; null: zero, and written nowhere
/// squares  [lane], set to the sum of squares of the pixels that what is folded back belongs to
template <class T>
void fold_back(SpectrumOperator what, const LaneRings& rings, const T* const* spectra,
               const double* weights, std::complex<double>* const* modes, double* squares) noexcept;

}  // namespace lane_rings
}  // namespace ringweave
