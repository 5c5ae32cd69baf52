// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>
#include <span>

#include "fft/ring_fft.hpp"

namespace ringweave::detail::inline fft {

/// Rings (or components of a ring) of one even, smooth length, one for each lane of a vector. Every
/// step from modes to pixels is then the same few vector operations for all of them, and the modes
/// of neighbouring rings, which are contiguous in the rows, are loaded without a transposition.
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

}  // namespace lane_rings

/// Steps for maps of type T. They do not throw.
/// modes    [n_modes], pointers to the lanes' modes of each order, contiguous; null: zero, and not
///          written
/// pixels   [lane], n_phi pixels each
/// weights  [lane], factors of the modes
template <class T>
struct LaneSteps {
  template <class Value>
  using Lanes = Value* const*;
  using Complex = std::complex<double>;

  /// Computes pixels from modes. A null pointer to pixels: an unused lane.
  void (*synthesize)(const LaneRings& rings, Lanes<const Complex> modes, Lanes<T> pixels);

  /// Applies the transpose. No pointer to pixels is null.
  void (*adjoint)(const LaneRings& rings, Lanes<const T> pixels, const double* weights,
                  Lanes<Complex> modes);

  /// Replaces the rings' pixels by their spectra in the format of RingSpectra. A null pointer to
  /// pixels: an unused lane.
  void (*to_spectra)(const LaneRings& rings, Lanes<T> pixels);

  /// Replaces modes by the result of an operator of RingSpectra on spectra and modes.
  /// spectra  [lane], none null; not read for adjoint_of_synthesis
  /// squares  [lane], set to the sum of squares of the pixels whose spectrum is folded back
  void (*apply_operator)(SpectrumOperator what, const LaneRings& rings, Lanes<const T> spectra,
                         const double* weights, Lanes<Complex> modes, double* squares);
};

/// Returns the steps for the vectors of this machine.
template <class T>
LaneSteps<T> lane_steps() noexcept;

}  // namespace ringweave::detail::inline fft
