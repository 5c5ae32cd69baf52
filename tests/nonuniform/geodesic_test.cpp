// SPDX-License-Identifier: GPL-3.0-or-later
#include "nonuniform/geodesic.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <random>

#include "support/tolerance.hpp"

namespace ringweave {
namespace {

using namespace detail;

using Long = long double;
using LongVector = std::array<Long, 3>;

constexpr Long pi = std::numbers::pi_v<Long>;

Long dot(const LongVector& a, const LongVector& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
LongVector sum(Long a, const LongVector& x, Long b, const LongVector& y) {
  return {a * x[0] + b * y[0], a * x[1] + b * y[1], a * x[2] + b * y[2]};
}

/// Unit vectors at a point: outward, to the south, to the east.
struct Frame {
  LongVector out;
  LongVector south;
  LongVector east;
};
Frame frame_at(Long theta, Long phi) {
  const Long st = std::sin(theta), ct = std::cos(theta), sp = std::sin(phi), cp = std::cos(phi);
  return {{st * cp, st * sp, ct}, {ct * cp, ct * sp, -st}, {-sp, cp, 0}};
}

SpherePoint point_at(double theta, double phi) {
  const double from_pole = theta < 1.5 ? theta : static_cast<double>(pi - Long(theta));
  return {std::sin(from_pole), theta < 1.5 ? std::cos(from_pole) : -std::cos(from_pole), theta,
          phi};
}

/// Distance of the frame carried by vectors from what follow_geodesic() says, both ends included.
Long error_of(double theta, double phi, Tangent step) {
  const GeodesicEnd end = follow_geodesic(point_at(theta, phi), step);
  const Frame from = frame_at(theta, phi);
  const Long arc = std::hypot(Long(step.theta), Long(step.phi));
  LongVector out = from.out;
  LongVector south = from.south;
  if (arc > 0) {
    const LongVector along = sum(step.theta / arc, from.south, step.phi / arc, from.east);
    out = sum(std::cos(arc), from.out, std::sin(arc), along);
    const LongVector along_end = sum(-std::sin(arc), from.out, std::cos(arc), along);
    const Long part = dot(from.south, along);
    south = sum(1, sum(1, from.south, -part, along), part, along_end);
  }
  const Frame there = frame_at(end.theta, end.phi);
  const LongVector place = sum(1, there.out, -1, out);
  const LongVector frame =
      sum(1, sum(end.cos_gamma, there.south, -Long(end.sin_gamma), there.east), -1, south);
  return std::sqrt(dot(place, place)) + std::sqrt(dot(frame, frame));
}

TEST(Geodesic, MovesPointsAndCarriesFramesAsVectorsDo) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> unit(0, 1);
  Long worst = 0;
  for (int i = 0; i < 20000; ++i) {
    // A third of the points near a pole, arcs from 1e-8 to 2.
    double theta = std::acos(1 - 2 * unit(random));
    if (i % 3 == 1) theta = std::pow(10, -6 * unit(random));
    if (i % 3 == 2) theta = std::numbers::pi - std::pow(10, -6 * unit(random));
    const double arc = 2 * std::pow(10, -8 * unit(random));
    const double direction = 2 * std::numbers::pi * unit(random);
    const double phi = 2 * std::numbers::pi * unit(random);
    worst = std::max(worst,
                     error_of(theta, phi, {arc * std::cos(direction), arc * std::sin(direction)}));
  }
  EXPECT_LT(static_cast<double>(worst), tolerance::geodesic);
}

TEST(Geodesic, CrossesThePolesAndStays) {
  EXPECT_LT(error_of(0.3, 1.0, {-0.7, 0}), tolerance::geodesic);
  EXPECT_LT(error_of(3.0, 1.0, {0.7, 1e-9}), tolerance::geodesic);
  EXPECT_LT(error_of(0.3, 1.0, {0, 0}), tolerance::geodesic);
  EXPECT_LT(error_of(1e-9, 1.0, {0, 1.3}), tolerance::geodesic);
}

TEST(Geodesic, ArrivesNextToThePoles) {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> unit(0, 1);
  Long worst = 0;
  for (int i = 0; i < 20000; ++i) {
    // From up to 1.47 rad from either pole to 1e-12 to 0.1 rad from it.
    const double start = std::acos(1 - 0.9 * unit(random));
    const double arrival = std::pow(10, -1 - 11 * unit(random));
    const auto colatitude = [&](double from_pole) {
      return i % 2 == 0 ? from_pole : static_cast<double>(pi - Long(from_pole));
    };
    const double theta = colatitude(start);
    const SpherePoint from = point_at(theta, 6 * unit(random));
    const Tangent step =
        geodesic_to(from, point_at(colatitude(arrival), 2 * std::numbers::pi * unit(random)));
    worst = std::max(worst, error_of(theta, from.phi, step));
  }
  EXPECT_LT(static_cast<double>(worst), tolerance::geodesic);
  for (const double east : {0.0, 1e-300, 1e-17, 1e-12, 1e-9}) {
    EXPECT_LT(error_of(0.3, 1.0, {-0.3, east}), tolerance::geodesic) << east;
    EXPECT_LT(error_of(std::numbers::pi - 0.3, 1.0, {0.3, east}), tolerance::geodesic) << east;
  }
}

TEST(Geodesic, AnArrivalOnAPoleHasTheFrameOfItsMeridian) {
  const GeodesicEnd end = follow_geodesic({0, 1, 0, 2}, {0, 0});
  EXPECT_EQ(end.theta, 0);
  EXPECT_EQ(end.phi, 2);
  EXPECT_EQ(end.cos_gamma, 1);
  EXPECT_EQ(end.sin_gamma, 0);
}

TEST(Geodesic, FindsTheWayBack) {
  std::mt19937_64 random(8);
  std::uniform_real_distribution<double> unit(0, 1);
  double worst = 0;
  for (int i = 0; i < 10000; ++i) {
    const double theta = i % 2 == 0 ? std::acos(1 - 2 * unit(random)) : 1e-5 + 1e-3 * unit(random);
    const SpherePoint from = point_at(theta, 6 * unit(random));
    const double arc = std::pow(10, -6 * unit(random));
    const double direction = 2 * std::numbers::pi * unit(random);
    const Tangent step{arc * std::cos(direction), arc * std::sin(direction)};
    const GeodesicEnd end = follow_geodesic(from, step);
    const Tangent found = geodesic_to(from, point_at(end.theta, end.phi));
    worst = std::max(worst, std::hypot(found.theta - step.theta, found.phi - step.phi));
  }
  // Both coordinates of the end are rounded.
  EXPECT_LT(worst, tolerance::geodesic_back);
}

/// Area of the image of a small square, by differences, of the deflection
/// d = grad of 0.1 cos(theta)^2 + 0.2 sin(theta) cos(phi) and the curl of 0.05 sin(theta) sin(phi).
struct SmoothDeflection {
  static Tangent at(double t, double p) {
    const double st = std::sin(t), ct = std::cos(t), sp = std::sin(p), cp = std::cos(p);
    return {-0.2 * ct * st + 0.2 * ct * cp - 0.05 * cp, -0.2 * sp + 0.05 * ct * sp};
  }
  static Shear shear_at(double t, double p);
};

/// Kappa and shears from the derivatives of the deflection: the covariant derivative D_ij d_j.
Shear SmoothDeflection::shear_at(double t, double p) {
  constexpr double h = 1e-4;
  const auto d_theta = [&](auto part) {
    return (part(at(t + h, p)) - part(at(t - h, p))) / (2 * h);
  };
  const auto d_phi = [&](auto part) { return (part(at(t, p + h)) - part(at(t, p - h))) / (2 * h); };
  const auto south = [](Tangent d) { return d.theta; };
  const auto east = [](Tangent d) { return d.phi; };
  const double st = std::sin(t), ct = std::cos(t);
  const Tangent d = at(t, p);
  const double tt = d_theta(south);
  const double tp = d_theta(east);                        // derivative to the south of d_phi
  const double pt = d_phi(south) / st - d.phi * ct / st;  // to the east of d_theta
  const double pp = d_phi(east) / st + d.theta * ct / st;
  return {-(tt + pp) / 2, (tp - pt) / 2, -(tt - pp) / 2, -(tp + pt) / 2};
}

TEST(Magnification, IsTheAreaOfTheImage) {
  for (const auto [t, p] : {std::array{0.8, 0.3}, std::array{1.4, 2.0}, std::array{2.5, 4.0}}) {
    constexpr double h = 1e-4;
    const auto image = [&](double theta, double phi) {
      const GeodesicEnd end =
          follow_geodesic(point_at(theta, phi), SmoothDeflection::at(theta, phi));
      return frame_at(end.theta, end.phi).out;
    };
    const LongVector a = sum(1 / (2 * h), image(t + h, p), -1 / (2 * h), image(t - h, p));
    const LongVector b = sum(1 / (2 * h * std::sin(t)), image(t, p + h), -1 / (2 * h * std::sin(t)),
                             image(t, p - h));
    const LongVector cross{a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
                           a[0] * b[1] - a[1] * b[0]};
    const double area = static_cast<double>(dot(cross, image(t, p)));
    EXPECT_NEAR(magnification(SmoothDeflection::shear_at(t, p), SmoothDeflection::at(t, p)), area,
                tolerance::magnification);
  }
}

}  // namespace
}  // namespace ringweave
