// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cmath>

#include "base/host_device.hpp"

namespace ringweave::detail::inline nonuniform {

/// A tangent vector of the sphere, radians: its components to the south and to the east.
struct Tangent {
  double theta = 0;
  double phi = 0;
};

/// A point of the sphere with the sine and cosine of its colatitude, which are exact next to the
/// poles.
struct SpherePoint {
  double sin_theta = 0;
  double cos_theta = 1;
  double theta = 0;
  double phi = 0;
};

/// End of a geodesic, and the turn of the frame: the southward unit vector at its beginning,
/// carried along it, is cos_gamma to the south and -sin_gamma to the east at its end.
struct GeodesicEnd {
  double theta = 0;
  double phi = 0;  ///< not reduced to a circle
  double cos_gamma = 1;
  double sin_gamma = 0;
};

/// sin(a)/a and (cos(a) - 1)/a^2 of an arc a.
struct ArcFactors {
  double sine = 1;
  double versine = -0.5;
};

RINGWEAVE_HOST_DEVICE ArcFactors arc_factors(double arc_squared) {
  // The first term left out of either series is below 1e-17 of it.
  constexpr double least = 0.0025;
  if (arc_squared < least) {
    const double s = arc_squared;
    return {1 - s / 6 * (1 - s / 20 * (1 - s / 42 * (1 - s / 72))),
            -0.5 * (1 - s / 12 * (1 - s / 30 * (1 - s / 56 * (1 - s / 90))))};
  }
  const double arc = std::sqrt(arc_squared);
  const double half = std::sin(0.5 * arc);
  return {std::sin(arc) / arc, -2 * half * half / arc_squared};
}

/// Goes from a point along a geodesic whose direction and length are a tangent vector.
RINGWEAVE_HOST_DEVICE GeodesicEnd follow_geodesic(const SpherePoint& from, Tangent step) {
  const double squared = step.theta * step.theta + step.phi * step.phi;
  const ArcFactors arc = arc_factors(squared);
  const double cosine = 1 + squared * arc.versine;
  const double x = from.sin_theta * cosine + from.cos_theta * arc.sine * step.theta;
  const double y = arc.sine * step.phi;
  const double z = from.cos_theta * cosine - from.sin_theta * arc.sine * step.theta;
  const double sine = std::sqrt(x * x + y * y);
  GeodesicEnd end{std::atan2(sine, z), from.phi, 1, 0};
  if (sine == 0) return end;
  end.phi += std::atan2(y, x);
  // The southward vector, carried, against the frame of the longitude as computed: next to a pole
  // both longitude and gamma are rounded coarsely, but the frame they make is not.
  const double kept = 1 + arc.versine * step.theta * step.theta;
  const double south_x = from.cos_theta * kept - arc.sine * step.theta * from.sin_theta;
  const double south_y = arc.versine * step.theta * step.phi;
  const double south_z = -from.sin_theta * kept - arc.sine * step.theta * from.cos_theta;
  const double c = z * (x * south_x + y * south_y) - sine * sine * south_z;
  const double s = y * south_x - x * south_y;
  const double modulus = std::sqrt(c * c + s * s);
  if (modulus == 0) return end;
  end.cos_gamma = c / modulus;
  end.sin_gamma = s / modulus;
  return end;
}

/// Returns the tangent vector at `from` whose geodesic ends at `to`, less than a quarter of a
/// circle away.
RINGWEAVE_HOST_DEVICE Tangent geodesic_to(const SpherePoint& from, const SpherePoint& to) {
  const double turn = to.phi - from.phi;
  const double half = std::sin(0.5 * turn);
  const double x =
      std::sin(to.theta - from.theta) - 2 * half * half * from.cos_theta * to.sin_theta;
  const double y = to.sin_theta * std::sin(turn);
  const double sine = std::sqrt(x * x + y * y);
  if (sine == 0) return {};
  const double scale = std::asin(sine < 1 ? sine : 1.0) / sine;
  return {x * scale, y * scale};
}

/// Convergence, rotation and shear of a deflection at a point.
struct Shear {
  double kappa = 0;
  double omega = 0;
  double gamma1 = 0;
  double gamma2 = 0;
};

/// Returns the ratio of the area around the end of a deflection to that around its beginning, |A|.
RINGWEAVE_HOST_DEVICE double magnification(const Shear& shear, Tangent deflection) {
  const double squared = deflection.theta * deflection.theta + deflection.phi * deflection.phi;
  const ArcFactors arc = arc_factors(squared);
  const double expansion = 1 - shear.kappa;
  const double area = expansion * expansion - shear.gamma1 * shear.gamma1 -
                      shear.gamma2 * shear.gamma2 + shear.omega * shear.omega;
  if (squared == 0) return area;
  const double cos_twice =
      (deflection.theta * deflection.theta - deflection.phi * deflection.phi) / squared;
  const double sin_twice = 2 * deflection.theta * deflection.phi / squared;
  // cos(a) - sin(a)/a, to full precision
  const double bend = 1 + squared * arc.versine - arc.sine;
  return arc.sine * area + bend * (expansion - shear.gamma1 * cos_twice - shear.gamma2 * sin_twice);
}

}  // namespace ringweave::detail::inline nonuniform
