// SPDX-License-Identifier: GPL-3.0-or-later
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "base/checked_cast.hpp"
#include "ringweave/error.hpp"
#include "ringweave/rotation.hpp"

namespace ringweave {

using namespace detail;

namespace {

using Real = long double;
using Matrix = std::array<std::array<Real, 3>, 3>;

enum Axis : std::size_t { x_axis, y_axis, z_axis };

Matrix operator*(const Matrix& a, const Matrix& b) {
  Matrix product{};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      for (std::size_t k = 0; k < 3; ++k) product[i][j] += a[i][k] * b[k][j];
    }
  }
  return product;
}

Matrix transposed(const Matrix& a) {
  Matrix result{};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) result[i][j] = a[j][i];
  }
  return result;
}

/// Returns the rotation of vectors about an axis.
Matrix turn(Axis axis, Real angle) {
  const std::size_t before = (std::size_t{axis} + 1) % 3;
  const std::size_t after = (std::size_t{axis} + 2) % 3;
  Matrix matrix{};
  matrix[axis][axis] = 1;
  matrix[before][before] = matrix[after][after] = std::cos(angle);
  matrix[after][before] = std::sin(angle);
  matrix[before][after] = -matrix[after][before];
  return matrix;
}

/// Returns the new coordinates of a direction when the axes turn.
Matrix turned_axes(Axis axis, Real angle) { return turn(axis, -angle); }

constexpr Real one_degree = std::numbers::pi_v<Real> / 180;
constexpr Real arcseconds = one_degree / 3600;

/// Galactic pole and longitude of the celestial pole: those of IAU 1958 (B1950), taken to FK5
/// J2000.
/// From  Blaauw et al. (1960), MNRAS 121, 123; figures of Astropy's Galactic frame
Matrix galactic_from_celestial() {
  constexpr Real pole_ra = 192.8594812065348L;
  constexpr Real pole_dec = 27.12825118085622L;
  constexpr Real longitude = 122.9319185680026L;
  return turned_axes(z_axis, (180 - longitude) * one_degree) *
         turned_axes(y_axis, (90 - pole_dec) * one_degree) *
         turned_axes(z_axis, pole_ra * one_degree);
}

/// Returns the rotation from the axes of ICRS to those of FK5.
///
/// From  Kaplan (2005), USNO Circular 179, section 3.5
Matrix celestial_from_icrs() {
  return turned_axes(x_axis, 0.0199L * arcseconds) * turned_axes(y_axis, 0.0091L * arcseconds) *
         turned_axes(z_axis, -0.0229L * arcseconds);
}

/// Bias and precession of IAU 2006 at J2000, where its obliquity cancels.
/// From  Capitaine & Wallace (2006), A&A 450, 855: Fukushima-Williams angles at t = 0
Matrix ecliptic_from_icrs() {
  return turned_axes(z_axis, 0.041775L * arcseconds) *
         turned_axes(x_axis, 84381.412819L * arcseconds) *
         turned_axes(z_axis, -0.052928L * arcseconds);
}

Matrix from_celestial(CoordinateSystem to) {
  switch (to) {
    case CoordinateSystem::galactic: return galactic_from_celestial();
    case CoordinateSystem::ecliptic:
      return ecliptic_from_icrs() * transposed(celestial_from_icrs());
    case CoordinateSystem::celestial: break;
  }
  return turn(z_axis, 0);
}

Matrix between_systems(CoordinateSystem from, CoordinateSystem to) {
  if (from == to) return turn(z_axis, 0);
  return from_celestial(to) * transposed(from_celestial(from));
}

RotationMatrix rounded(const Matrix& matrix) {
  RotationMatrix result{};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) result[i][j] = static_cast<double>(matrix[i][j]);
  }
  return result;
}

EulerAngles angles_of(const Matrix& r) {
  const Real sin_theta = std::hypot(r[0][2], r[1][2]);
  const Real phi = sin_theta == 0 ? 0 : std::atan2(r[1][2], r[0][2]);
  // The middle row of Rz(-phi) R is (sin psi, cos psi, 0): precise for all theta.
  const Real sin_psi = std::cos(phi) * r[1][0] - std::sin(phi) * r[0][0];
  const Real cos_psi = std::cos(phi) * r[1][1] - std::sin(phi) * r[0][1];
  return {static_cast<double>(std::atan2(sin_psi, cos_psi)),
          static_cast<double>(std::atan2(sin_theta, r[2][2])), static_cast<double>(phi)};
}

void require_rotation(const Matrix& r) {
  constexpr Real tolerance = 1e-6L;
  const Matrix product = r * transposed(r);
  bool good = true;
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j)
      good = good && std::abs(product[i][j] - (i == j ? 1 : 0)) <= tolerance;
  }
  const Real determinant = r[0][0] * (r[1][1] * r[2][2] - r[1][2] * r[2][1]) -
                           r[0][1] * (r[1][0] * r[2][2] - r[1][2] * r[2][0]) +
                           r[0][2] * (r[1][0] * r[2][1] - r[1][1] * r[2][0]);
  if (good && determinant > 0) return;
  throw UsageError(
      "a matrix of a rotation has orthonormal rows, to 1e-6, and determinant +1; this one has not");
}

}  // namespace

EulerAngles EulerAngles::of(const RotationMatrix& matrix) {
  Matrix r{};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) r[i][j] = matrix[i][j];
  }
  require_rotation(r);
  return angles_of(r);
}

EulerAngles EulerAngles::between(CoordinateSystem from, CoordinateSystem to) {
  return angles_of(between_systems(from, to));
}

RotationMatrix EulerAngles::matrix() const {
  return rounded(turn(z_axis, phi) * turn(y_axis, theta) * turn(z_axis, psi));
}

RotationMatrix matrix_between(CoordinateSystem from, CoordinateSystem to) {
  return rounded(between_systems(from, to));
}

}  // namespace ringweave
