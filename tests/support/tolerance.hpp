// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace ringweave::tolerance {

// The bounds of all tests, relative to rms unless stated; maximum errors may be ten times larger.
// Never loosened to make a test pass: docs/accuracy.md explains each.
inline constexpr double round_trip = 1e-12;  ///< synthesis then analysis on an exact grid
inline constexpr double adjoint = 1e-13;     ///< gap / (||S a|| ||y|| / sqrt N)
inline constexpr double direct_sum = 1e-13;  ///< against a higher-precision direct sum
inline constexpr double rank_invariance =
    1e-13;  ///< any two rank counts, thread counts, batch sizes
inline constexpr double other_programs = 1e-12;      ///< healpy, ducc0 on random a_lm
inline constexpr double single_storage = 1e-6;       ///< float maps or a_lm
inline constexpr double geodesic = 1e-14;            ///< points and frames carried along an arc
inline constexpr double geodesic_back = 1e-14;       ///< the arc between two rounded points
inline constexpr double magnification = 1e-8;        ///< against finite differences
inline constexpr double inverse_deflection = 1e-12;  ///< radians
inline constexpr double max_over_rms = 10;           ///< maximum error allowed per rms bound

}  // namespace ringweave::tolerance
