// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "nonuniform/tap_polynomials.hpp"

namespace ringweave::detail::inline nonuniform {

/// Evaluates all taps at some offsets, vectorized over the taps.
/// values  [offset][padded_width], aligned to 64 bytes; zero beyond the taps
void fill_taps(const TapPolynomials& taps, const double* offsets, std::int64_t n_offsets,
               double* values) noexcept;

}  // namespace ringweave::detail::inline nonuniform
