// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cmath>
#include <limits>
#include <utility>

namespace ringweave::tolerance {

// The bounds of all tests, relative to rms unless stated; maximum errors may be ten times larger.
// Never loosened to make a test pass: docs/accuracy.md explains each.
inline constexpr double round_trip = 1e-12;  ///< synthesis then analysis on an exact grid
inline constexpr double adjoint = 1e-13;     ///< gap / (||S a|| ||y|| / sqrt N)
inline constexpr double direct_sum = 1e-13;  ///< against a higher-precision direct sum
inline constexpr double rank_invariance =
    1e-13;  ///< any two rank counts, thread counts, batch sizes
inline constexpr double other_programs = 1e-12;  ///< healpy, ducc0 on random a_lm
inline constexpr double single_storage = 1e-6;   ///< float maps or a_lm
/// Values at points that are asked for to epsilon, over the rms of the field, and their adjoint.
constexpr double at_points(double epsilon, int lmax) { return epsilon + 1e-13 + 2e-16 * lmax; }
/// Rounding of Legendre functions next to a pole, over the rms of the field.
inline double legendre_next_to_poles(int lmax) {
  return 0.75 * std::pow(lmax, 1.5) * std::numeric_limits<double>::epsilon();
}
/// Largest value of harmonics over their rms, by which errors may grow that are in phase on a pole.
inline double in_phase(int lmax) { return std::sqrt(2 * lmax + 1); }
inline constexpr double geodesic = 1e-14;              ///< points and frames carried along an arc
inline constexpr double geodesic_back = 1e-14;         ///< the arc between two rounded points
inline constexpr double magnification = 1e-8;          ///< against finite differences
inline constexpr double inverse_deflection = 1e-12;    ///< radians
inline constexpr int inverse_evaluations = 10;         ///< of d at any pixel
inline constexpr double deflection_of_a_mode = 1e-15;  ///< radians, against its derivatives
inline constexpr double deflection_rms = 1e-4;         ///< radians; quadrature of coarse grids
inline constexpr double image_area = 1e-11;  ///< |A| integrated over the sphere, less 4 pi
/// Factor of epsilon where sums over deflected pixels are not exact.
inline constexpr double inexact_sums = 10;
inline constexpr double delensed = 1e-9;  ///< degrees of the analysis lose nothing; exact grid
inline constexpr double delensed_by_iteration = 1e-6;  ///< the same on HEALPix, five corrections
inline constexpr double gyroaverage = 1e-13;  ///< against rows of the operator; over the largest
/// Range for the error of a gyroaverage where it is known: within 2 %, below 1e-9 within a factor
/// of two; below 1e-14 rounding alone is left.
constexpr std::pair<double, double> known_gyroaverage_error(double known) {
  if (known < 1e-14) return {0, 2 * known};
  if (known < 1e-9) return {known / 2, 2 * known};
  return {0.98 * known, 1.02 * known};
}
// Least and largest slopes of errors from 64 to 128 nodes.
inline constexpr std::pair<double, double> bilinear_order{1.8, 2.2};
inline constexpr std::pair<double, double> bicubic_order{3.8, 5};  // not yet asymptotic: 4.3 to 4.8
// pixell's maps: maximum over the rms of the field.
inline constexpr double unlensed_by_pixell = 1e-11;
inline constexpr double lensed_by_pixell = 1e-10;
inline constexpr double lensed_polarisation_by_pixell = 1e-9;
/// Loss of delensed T by the band limit of a lensed sky (FFP10, unlensed lmax 1500).
struct DelensingLoss {
  int lensed_lmax;
  double most;
};
inline constexpr DelensingLoss delensing_losses[] = {{1500, 2.6e-2}, {1800, 1.1e-2}, {2250, 5e-3}};
inline constexpr double gyro_weights = 1e-13;  ///< weights of nodes in an average over a circle
/// Filtered planes against direct sums, over the largest value.
inline constexpr double filtered_plane = 2e-14;
// Averages by the padded cosine transform, over the largest average.
inline constexpr double gyro_dct = 1e-14;  ///< of fields that vanish at the edge and are resolved
inline constexpr double gyro_dct_row = 1e-13;  ///< rows times fields, plane waves
// Gyroaverages: largest gaps, of fields of size 1.
inline constexpr double chebyshev_entries = 2e-14;      ///< of the operator, against long double
inline constexpr double chebyshev_polynomials = 1e-13;  ///< against exact averages
inline constexpr double chebyshev_symmetry = 2e-14;     ///< averages of reflected fields
inline constexpr double max_over_rms = 10;              ///< maximum error allowed per rms bound
inline constexpr double predicted_memory = 0.1;         ///< part of what is allocated
inline constexpr double most_load = 1.2;                ///< of a rank, over the mean

}  // namespace ringweave::tolerance
