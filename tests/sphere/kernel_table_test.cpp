// SPDX-License-Identifier: GPL-3.0-or-later
#include "sphere/kernel/kernel_table.hpp"

#include <gtest/gtest.h>

// Boost 1.74's pchip calls isnan() without std::, which <math.h> provides.
#include <math.h>

#include <algorithm>
#include <boost/math/interpolators/pchip.hpp>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iostream>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "kernel_reference.hpp"
#include "ringweave/kernel.hpp"
#include "support/angles.hpp"
#include "support/tolerance.hpp"

namespace ringweave::detail {
namespace {

double chord_squared(double theta) {
  const double chord = 2 * std::sin(theta / 2);
  return chord * chord;
}

TEST(KernelTable, AGaussianIsTheHeatKernelOfTheSphere) {
  for (const double fwhm :
       {arcmin(0.5), arcmin(4.7), arcmin(30), degrees(1), degrees(10), degrees(40), degrees(120)}) {
    const RadialKernel kernel = RadialKernel::gaussian(fwhm, KernelSupport::automatic(1e-12));
    double largest = 0;
    for (const double theta : random_angles(std::min(kernel.support(), 3.0), 40)) {
      const double error = std::abs(kernel.at(theta) - heat_kernel(sigma_of(fwhm), theta));
      EXPECT_LE(error, tolerance::direct_sum * kernel.bound())
          << "fwhm " << fwhm << " theta " << theta;
      largest = std::max(largest, error / kernel.bound());
    }
    std::cout << "fwhm " << fwhm << " rad: " << largest << " of the peak\n";
  }
}

struct SeriesCase {
  std::string name;
  std::vector<double> k_l;
  double theta_cut;
};

std::vector<SeriesCase> series_cases() {
  std::vector<SeriesCase> cases;
  for (const std::size_t lmax : {0U, 1U, 2U, 5U, 32U, 127U, 256U})
    cases.push_back({"flat to " + std::to_string(lmax), std::vector<double>(lmax + 1, 1.0), pi});
  cases.push_back({"flat to 1024, 90 degrees", std::vector<double>(1025, 1.0), pi / 2});
  cases.push_back({"flat to 1024, 100 degrees", std::vector<double>(1025, 1.0), degrees(100)});
  cases.push_back({"flat to 4096, 3 degrees", std::vector<double>(4097, 1.0), degrees(3)});
  cases.push_back({"Gaussian cut at its lmax", gaussian_k_l(sigma_of(arcmin(7)), 3000), 0.1});
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  std::vector<double> noise;
  for (int l = 0; l <= 300; ++l) noise.push_back(normal(random));
  cases.push_back({"random signs", noise, pi});
  for (std::size_t l = 1; l < noise.size(); l += 2) noise[l] = 0;
  cases.push_back({"even degrees only", noise, pi});
  return cases;
}

TEST(KernelTable, ASeriesIsItsSumInHigherPrecision) {
  for (const SeriesCase& c : series_cases()) {
    const RadialKernel kernel = RadialKernel::from_beam(c.k_l, KernelSupport::angle(c.theta_cut));
    double largest = 0;
    for (const double theta : random_angles(c.theta_cut, 120)) {
      const double error =
          std::abs(kernel.at(theta) - static_cast<double>(series_reference(c.k_l, theta)));
      EXPECT_LE(error, tolerance::direct_sum * kernel.bound()) << c.name << " theta " << theta;
      largest = std::max(largest, error / kernel.bound());
    }
    std::cout << c.name << ": " << largest << " of the bound\n";
  }
}

TEST(KernelTable, ASeriesForSpinIsItsSumInHigherPrecision) {
  for (const SeriesCase& c : series_cases()) {
    for (int spin = 1; spin <= RadialKernel::most_spin; ++spin) {
      if (c.k_l.size() <= static_cast<std::size_t>(spin)) continue;
      const RadialKernel kernel =
          RadialKernel::from_beam(c.k_l, KernelSupport::angle(c.theta_cut), spin);
      double largest = 0;
      for (const double theta : random_angles(c.theta_cut, 24)) {
        const auto expected = static_cast<double>(spin_series_reference(c.k_l, spin, theta));
        const double error = std::abs(kernel.at(theta) - expected);
        EXPECT_LE(error, tolerance::direct_sum * kernel.bound())
            << c.name << ", spin " << spin << ", theta " << theta;
        largest = std::max(largest, error / kernel.bound());
      }
      std::cout << c.name << ", spin " << spin << ": " << largest << " of the bound\n";
    }
  }
}

TEST(KernelTable, PiecesMeet) {
  const auto value = [](const KernelTable::Piece& piece, double t) {
    double sum = 0;
    for (std::size_t k = piece.coefficient.size(); k-- > 0;) sum = sum * t + piece.coefficient[k];
    return sum;
  };
  for (const SeriesCase& c : series_cases()) {
    const RadialKernel kernel = RadialKernel::from_beam(c.k_l, KernelSupport::angle(c.theta_cut));
    const KernelTable& table = kernel.table();
    ASSERT_TRUE(table.is_uniform());
    const double bound = tolerance::direct_sum * kernel.bound();
    // The near cells end at a chord of sqrt(2), or at the cut.
    const auto last_near =
        static_cast<std::size_t>(table.scale * std::sqrt(std::min(table.chord_squared_cut, 2.0)));
    for (std::size_t i = 0; i + 1 < table.pieces.size(); ++i) {
      if (i == last_near) continue;
      EXPECT_NEAR(value(table.pieces[i], 0.5), value(table.pieces[i + 1], -0.5), bound)
          << c.name << " piece " << i;
    }
    if (table.chord_squared_cut > 2) {
      EXPECT_NEAR(table.evaluate(2), table.evaluate(2 + 1e-15), bound) << c.name;
    }
  }
}

TEST(KernelTable, TheDistanceOfTheCutBelongsToTheKernel) {
  for (const double theta : {degrees(0.01), degrees(1), degrees(60), pi / 2, degrees(120), pi}) {
    const RadialKernel kernel = RadialKernel::from_profile(
        std::vector<double>{0, theta}, std::vector<double>{2, 2}, KernelSupport::whole());
    EXPECT_EQ(kernel.support(), theta);
    // Computed as the distance of two rings, wherever they are.
    for (const double north : {0.0, 1e-3, 0.1, 1.0, 3.0}) {
      if (north + theta > pi) continue;
      const double difference = (north + theta) - north;
      EXPECT_NEAR(kernel.table().evaluate(chord_squared(difference)), 2, 1e-14)
          << theta << " from " << north;
    }
    EXPECT_NEAR(kernel.table().evaluate(chord_squared(theta) * (1 + 4e-16)), 2, 1e-14) << theta;
    if (theta < pi) {
      EXPECT_EQ(kernel.at(theta + 1e-12), 0) << theta;
    }
  }
}

struct ProfileCase {
  std::string name;
  std::vector<double> theta;
  std::vector<double> value;
};

ProfileCase tabulated(const std::string& name, std::vector<double> theta,
                      const std::function<double(double)>& profile) {
  std::vector<double> value;
  for (const double t : theta) value.push_back(profile(t));
  return {name, std::move(theta), std::move(value)};
}

std::vector<double> equal_steps(double end, int n) {
  std::vector<double> theta;
  for (int i = 0; i <= n; ++i) theta.push_back(end * i / n);
  return theta;
}

std::vector<ProfileCase> profile_cases() {
  std::vector<ProfileCase> cases;
  cases.push_back(
      tabulated("cosine to 0.5", equal_steps(0.5, 40), [](double t) { return std::cos(20 * t); }));
  cases.push_back(tabulated("whole sphere", equal_steps(pi, 300),
                            [](double t) { return std::exp(-t) * std::cos(7 * t); }));
  cases.push_back(tabulated("four points on the sphere", equal_steps(pi, 3),
                            [](double t) { return 1 - 0.3 * t; }));
  std::vector<double> logarithmic{0};
  for (double t = 1e-7; t < 2.5; t *= 1.2) logarithmic.push_back(t);
  cases.push_back(
      tabulated("logarithmic steps", logarithmic, [](double t) { return 1 / (t + 1e-4); }));
  cases.push_back({"a step", {0, 0.1, 0.1 + 1e-9, 0.3, 0.4}, {1, 1, 0.2, 0.2, 0.1}});
  cases.push_back({"a knot on the equator", {0, 1, pi / 2, 2, 3}, {1, 0.5, 0.7, -0.2, 0.1}});
  return cases;
}

TEST(KernelTable, AProfileIsBoostsMonotoneCubic) {
  for (const ProfileCase& c : profile_cases()) {
    const RadialKernel kernel =
        RadialKernel::from_profile(c.theta, c.value, KernelSupport::whole());
    const boost::math::interpolators::pchip<std::vector<double>> boost_cubic(
        std::vector<double>(c.theta), std::vector<double>(c.value));
    for (const double theta : random_angles(c.theta.back(), 400)) {
      // Where it is steep, the rounding of the angle matters.
      const double slope = std::abs(boost_cubic.prime(theta));
      EXPECT_NEAR(kernel.at(theta), boost_cubic(theta),
                  tolerance::direct_sum * kernel.bound() + 1e-15 * slope)
          << c.name << " theta " << theta;
    }
    for (std::size_t i = 1; i + 1 < c.theta.size(); ++i) {
      const double slope =
          std::max(std::abs((c.value[i] - c.value[i - 1]) / (c.theta[i] - c.theta[i - 1])),
                   std::abs((c.value[i + 1] - c.value[i]) / (c.theta[i + 1] - c.theta[i])));
      EXPECT_NEAR(kernel.at(c.theta[i]), c.value[i],
                  tolerance::direct_sum * kernel.bound() + 1e-15 * slope)
          << c.name << " point " << i;
    }
  }
}

TEST(KernelTable, TwoPointsAreJoinedByALine) {
  const RadialKernel kernel = RadialKernel::from_profile(
      std::vector<double>{0, 0.2}, std::vector<double>{3, 1}, KernelSupport::whole());
  for (const double theta : random_angles(0.2, 40))
    EXPECT_NEAR(kernel.at(theta), 3 - 10 * theta, 1e-14);
}

TEST(KernelTable, AProfileCutWithinATableKeepsItsValuesToTheCut) {
  const ProfileCase c = profile_cases()[1];
  const RadialKernel whole = RadialKernel::from_profile(c.theta, c.value, KernelSupport::whole());
  for (const double cut : {0.004, 0.5, 1.6, 3.0}) {
    const RadialKernel kernel =
        RadialKernel::from_profile(c.theta, c.value, KernelSupport::angle(cut));
    EXPECT_EQ(kernel.support(), cut);
    for (const double theta : random_angles(cut, 60))
      EXPECT_NEAR(kernel.at(theta), whole.at(theta), 1e-14) << cut << " " << theta;
    EXPECT_EQ(kernel.at(cut + 1e-9), 0);
  }
}

/// Evaluates as described by the layout, like code that gathers.
double gathered(const KernelTable& table, double chord_squared) {
  const bool far = chord_squared > 2;
  const double x = table.scale * std::sqrt(far ? 4 - chord_squared : chord_squared);
  const std::int64_t cell = static_cast<std::int64_t>(std::floor(x)) + (far ? table.far_offset : 0);
  std::int64_t piece = cell;
  double t = x - std::floor(x) - 0.5;
  if (!table.is_uniform()) {
    piece = table.first_piece.at(static_cast<std::size_t>(cell));
    std::int64_t passed = 0;
    for (std::int64_t step = 0; step < table.most_steps; ++step)
      passed += x > table.piece_end.at(static_cast<std::size_t>(piece + passed)) ? 1 : 0;
    piece += passed;
    t = x - table.piece_centre.at(static_cast<std::size_t>(piece));
  }
  EXPECT_LT(piece, static_cast<std::int64_t>(table.pieces.size()));
  const double* a = table.coefficients() + (KernelTable::degree + 1) * piece;
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a) % 64, 0U);
  double value = 0;
  for (int k = KernelTable::degree; k >= 0; --k) value = std::fma(value, t, a[k]);
  return value;
}

TEST(KernelTable, CodeThatGathersFindsTheSameValues) {
  std::vector<RadialKernel> kernels;
  for (const SeriesCase& c : series_cases())
    kernels.push_back(RadialKernel::from_beam(c.k_l, KernelSupport::angle(c.theta_cut)));
  for (const ProfileCase& c : profile_cases())
    kernels.push_back(RadialKernel::from_profile(c.theta, c.value, KernelSupport::whole()));
  for (const RadialKernel& kernel : kernels) {
    const double cut = kernel.table().chord_squared_cut;
    std::mt19937_64 random(11);
    std::uniform_real_distribution<double> uniform(0, std::min(cut, 4.0));
    for (int i = 0; i < 300; ++i) {
      const double at = uniform(random) * (i % 3 == 0 ? 1e-4 : 1);
      EXPECT_EQ(kernel.table().evaluate(at), gathered(kernel.table(), at)) << at;
    }
    EXPECT_EQ(kernel.table().evaluate(cut * (1 + 1e-15)), 0);
    EXPECT_TRUE(std::isfinite(kernel.table().evaluate(cut)));
    EXPECT_EQ(kernel.table().evaluate(std::nan("")), 0);
  }
}

}  // namespace
}  // namespace ringweave::detail
