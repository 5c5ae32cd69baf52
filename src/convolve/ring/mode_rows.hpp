// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "convolve/ring/row_fft.hpp"
#include "ringweave/grid.hpp"
#include "ringweave/kernel.hpp"

namespace ringweave::detail::inline convolve {

/// The ring modes that a convolution multiplies.
struct ModeRows {
  enum class Kind {
    none,
    /// Orders up to where the kernel's own modes end; any two rings.
    band_limited,
    /// Orders up to Nyquist of rings of one length, the kernel sampled where their pixels are.
    circulant,
    /// Orders up to each ring's own Nyquist.
    plain
  };
  Kind kind = Kind::none;
  RingRange zone;                ///< rings that have modes
  std::vector<int> m_limit;      ///< [ring of the zone] its highest order
  std::vector<RingRange> kept;   ///< [m] rings with this order; consecutive
  std::vector<int> n_samples;    ///< [ring of the zone] kernel samples around a ring
  RowFft row_fft;                ///< for groups of pairs whose rows are made by FFT
  std::int64_t n_modes() const;  ///< of all rings together

  int mmax() const { return static_cast<int>(kept.size()) - 1; }
  int limit(std::int64_t ring) const {
    return m_limit[static_cast<std::size_t>(ring - zone.begin)];
  }
  int samples(std::int64_t ring) const {
    return n_samples[static_cast<std::size_t>(ring - zone.begin)];
  }
};

/// Returns the highest degree of kernels whose multipoles fall below `error` (0: rounding) on a
/// grid; 0 if they do not within the degrees the grid resolves.
int highest_degree(const RingGrid& grid, const std::vector<RadialKernel>& kernels, double error);

/// Returns the rows for a kernel of a spin without degrees above `degree`.
ModeRows band_limited_rows(const RingGrid& grid, int degree, int spin);
/// Returns the rows for a run of rings of one length.
ModeRows circulant_rows(const RingGrid& grid, RingRange rings);
/// Returns the rows with orders up to each ring's Nyquist. Error  UsageError unless the rings'
/// lengths grow towards the equator.
ModeRows plain_rows(const RingGrid& grid);

}  // namespace ringweave::detail::inline convolve
