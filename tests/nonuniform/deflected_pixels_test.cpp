// SPDX-License-Identifier: GPL-3.0-or-later
#include "nonuniform/host/deflected_pixels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include "base/checked_cast.hpp"
#include "nonuniform/geodesic.hpp"
#include "support/only_target.hpp"
#include "support/tolerance.hpp"

namespace ringweave {
namespace {

using namespace detail;

Ring ring_at(double theta, std::int64_t n_phi) {
  const double from_pole = std::min(theta, std::numbers::pi - theta);
  Ring ring;
  ring.theta = theta;
  ring.sin_theta = std::sin(from_pole);
  ring.cos_theta = theta < 1.6 ? std::cos(from_pole) : -std::cos(from_pole);
  ring.phi0 = 0.1;
  ring.n_phi = n_phi;
  return ring;
}

using Vector = std::array<double, 3>;
Vector difference(const Vector& a, const Vector& b) {
  return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}

/// Returns the southward unit vector at the beginning, carried to the end.
Vector carried_south(const GeodesicEnd& end) {
  const double st = std::sin(end.theta), ct = std::cos(end.theta);
  const double sp = std::sin(end.phi), cp = std::cos(end.phi);
  return {end.cos_gamma * ct * cp + end.sin_gamma * sp,
          end.cos_gamma * ct * sp - end.sin_gamma * cp, -end.cos_gamma * st};
}

/// Compares all pixels of a ring from the first one on with follow_geodesic().
void expect_as_one_by_one(const Ring& ring, std::int64_t first, const std::vector<double>& d_theta,
                          const std::vector<double>& d_phi) {
  const DeflectedPixels pixels{&ring, first, ssize64(d_theta), d_theta.data(), d_phi.data()};
  constexpr double untouched = 77;
  std::array<std::vector<double>, 4> found;
  found.fill(std::vector<double>(d_theta.size() + 1, untouched));
  find_positions(pixels, found[0].data(), found[1].data());
  find_rotation(pixels, found[2].data(), found[3].data());
  for (std::size_t i = 0; i < d_theta.size(); ++i) {
    const double phi = ring.phi0 + 2 * std::numbers::pi *
                                       static_cast<double>(first + static_cast<std::int64_t>(i)) /
                                       static_cast<double>(ring.n_phi);
    const GeodesicEnd end =
        follow_geodesic({ring.sin_theta, ring.cos_theta, ring.theta, phi}, {d_theta[i], d_phi[i]});
    EXPECT_NEAR(found[0][i], end.theta, 0.1 * tolerance::geodesic);
    const GeodesicEnd alone{found[0][i], found[1][i], found[2][i], found[3][i]};
    // Next to a pole longitude and gamma turn with what the position is rounded by.
    const double phi_gap = std::remainder(alone.phi - end.phi, 2 * std::numbers::pi);
    EXPECT_LT(std::abs(phi_gap) * std::sin(end.theta), 0.3 * tolerance::geodesic);
    EXPECT_LT(std::abs(alone.cos_gamma - end.cos_gamma) * std::sin(end.theta),
              0.1 * tolerance::geodesic);
    EXPECT_LT(std::abs(alone.sin_gamma - end.sin_gamma) * std::sin(end.theta),
              0.1 * tolerance::geodesic);
    const Vector gap = difference(carried_south(alone), carried_south(end));
    for (const double part : gap) EXPECT_LT(std::abs(part), 0.3 * tolerance::geodesic);
  }
  for (const auto& values : found) EXPECT_EQ(values.back(), untouched);
  auto at_once = found;
  for (auto& values : at_once) std::fill(values.begin(), values.end(), untouched);
  find_ends(pixels, {at_once[0].data(), at_once[1].data(), at_once[2].data(), at_once[3].data()});
  EXPECT_EQ(at_once, found);
  std::fill(at_once[0].begin(), at_once[0].end(), untouched);
  find_positions(pixels, at_once[0].data(), nullptr);
  EXPECT_EQ(at_once[0], found[0]);
}

/// Deflections of all lengths, at and far from the poles.
void expect_all_as_one_by_one() {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> unit(0, 1);
  for (const double theta : {0.0, 1e-9, 1e-4, 0.3, 1.5, std::numbers::pi / 2, 3.0,
                             std::numbers::pi - 1e-6, std::numbers::pi}) {
    const Ring ring = ring_at(theta, 1000);
    for (const double largest : {1e-8, 1e-3, 0.3, 0.999, 2.0}) {
      for (const std::int64_t count : {1, 3, 8, 29, 512}) {
        std::vector<double> d_theta;
        std::vector<double> d_phi;
        for (std::int64_t i = 0; i < count; ++i) {
          const double arc = i % 7 == 3 ? 0 : largest * unit(random);
          const double direction = 2 * std::numbers::pi * unit(random);
          d_theta.push_back(arc * std::cos(direction));
          d_phi.push_back(arc * std::sin(direction));
        }
        expect_as_one_by_one(ring, 400, d_theta, d_phi);
      }
    }
  }
}

TEST(DeflectedPixels, AreFollowedAsOneByOneWithEveryInstructionSet) {
  for (std::int64_t runnable = hwy::SupportedTargets(); runnable != 0; runnable &= runnable - 1) {
    const test::OnlyTarget scope(runnable & -runnable);
    SCOPED_TRACE(hwy::TargetName(runnable & -runnable));
    expect_all_as_one_by_one();
  }
}

TEST(DeflectedPixels, CrossThePolesAndArriveThere) {
  const Ring ring = ring_at(0.25, 10);
  expect_as_one_by_one(ring, 0, {-0.5, 0, -0.25, 0.9}, {0, 0, 1e-12, 0});
  for (const double east : {0.0, 1e-17, 1e-9, 1e-5, 1e-3})
    expect_as_one_by_one(ring, 0, {-0.25, -0.25 + 1e-7, -0.24}, {east, -east, east});
  const Ring pole = ring_at(0, 10);
  expect_as_one_by_one(pole, 2, {0, 0, 0.1}, {0, 0.2, 0});
}

}  // namespace
}  // namespace ringweave
