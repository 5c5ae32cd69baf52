// SPDX-License-Identifier: GPL-3.0-or-later
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ringweave/kernel.hpp"
#include "sphere/kernel/kernel_table.hpp"

// Boost 1.74's pchip calls isnan() without std::, which <math.h> provides.
#include <math.h>

#include <algorithm>
#include <boost/math/interpolators/pchip.hpp>
#include <cmath>
#include <functional>
#include <iostream>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "kernel_reference.hpp"
#include "ringweave/error.hpp"
#include "ringweave/spectra.hpp"
#include "sphere/kernel/kernel_shape.hpp"
#include "support/angles.hpp"
#include "support/tolerance.hpp"

namespace ringweave::detail {
namespace {

struct Table {
  std::vector<double> theta;
  std::vector<double> value;
};

template <class Profile>
Table tabulate(double end, int n, const Profile& profile) {
  Table table;
  for (int i = 0; i <= n; ++i) {
    table.theta.push_back(end * i / n);
    table.value.push_back(profile(table.theta.back()));
  }
  return table;
}

RadialKernel kernel_of(const Table& table, const KernelSupport& support = KernelSupport::whole()) {
  return RadialKernel::from_profile(table.theta, table.value, support);
}

TEST(RadialKernel, AConstantOnTheWholeSphereIsTheMonopole) {
  const std::vector<double> k_l =
      kernel_of(tabulate(pi, 7, [](double) { return 1 / (4 * pi); })).multipoles(40);
  EXPECT_NEAR(k_l[0], 1, 1e-14);
  for (std::size_t l = 1; l <= 40; ++l) EXPECT_NEAR(k_l[l], 0, 1e-14) << l;
}

TEST(RadialKernel, ATopHatHasItsKnownMultipoles) {
  // 2 pi int_c^1 P_l dz = 2 pi (P_{l-1}(c) - P_{l+1}(c)) / (2 l + 1)
  for (const double end : {0.01, 0.3, 1.5, 2.0, 3.1}) {
    const RadialKernel kernel = kernel_of(tabulate(end, 1, [](double) { return 1.0; }));
    const std::vector<double> k_l = kernel.multipoles(4096);
    const long double c = std::cos(static_cast<long double>(end));
    std::vector<long double> p{1, c};
    for (std::size_t l = 1; l <= 4096; ++l) {
      const long double n = static_cast<long double>(l);
      p.push_back(((2 * n + 1) * c * p[l] - n * p[l - 1]) / (n + 1));
    }
    for (std::size_t l = 1; l <= 4096; ++l) {
      const long double exact = 2 * std::numbers::pi_v<long double> * (p[l - 1] - p[l + 1]) /
                                (2 * static_cast<long double>(l) + 1);
      EXPECT_NEAR(k_l[l], static_cast<double>(exact), tolerance::direct_sum * k_l[0])
          << l << " " << end;
    }
  }
}

TEST(RadialKernel, AFineGaussianTableGivesTheGaussianBeam) {
  const double fwhm = degrees(2);
  const double sigma = sigma_of(fwhm);
  // The heat kernel in the plane; on the sphere it differs by O(sigma^2).
  const Table table = tabulate(9 * sigma, 4000, [&](double t) {
    return std::exp(-t * t / (2 * sigma * sigma)) / (2 * pi * sigma * sigma);
  });
  const std::vector<double> k_l = kernel_of(table).multipoles(300);
  const Beam gauss = gaussian_beam(fwhm, 300);
  for (std::size_t l = 0; l <= 300; ++l) EXPECT_NEAR(k_l[l], gauss.t[l], 2 * sigma * sigma) << l;
}

TEST(RadialKernel, AProfilesMultipolesAreBoostsQuadrature) {
  const Table table = tabulate(2.4, 9, [](double t) { return std::cos(3 * t) + 0.2; });
  const std::vector<double> k_l = kernel_of(table).multipoles(150);
  const boost::math::interpolators::pchip<std::vector<double>> cubic(
      std::vector<double>(table.theta), std::vector<double>(table.value));
  for (const unsigned l : {0U, 1U, 2U, 7U, 40U, 150U}) {
    double sum = 0;
    for (std::size_t i = 0; i + 1 < table.theta.size(); ++i) {
      const auto integrand = [&](double t) {
        return 2 * pi * cubic(std::min(t, table.theta.back())) * std::sin(t) *
               static_cast<double>(std::legendre(l, std::cos(static_cast<long double>(t))));
      };
      sum += boost::math::quadrature::gauss_kronrod<double, 61>::integrate(
          integrand, table.theta[i], table.theta[i + 1], 3, 1e-14);
    }
    EXPECT_NEAR(k_l[l], sum, 1e-13 * 2 * pi * 2) << l;
  }
}

TEST(RadialKernel, ACutPolynomialHasItsKnownMultipoles) {
  const std::size_t n = 40;
  std::vector<double> b_l(n + 1, 0.0);
  b_l[n] = 4 * pi / (2.0 * n + 1);  // K = P_40
  for (const double cut : {0.02, 1.0, 1.58, 2.5, 3.1}) {
    const RadialKernel kernel = RadialKernel::from_beam(b_l, KernelSupport::angle(cut));
    const std::vector<double> k_l = kernel.multipoles(200);
    const double area = 2 * pi * (1 - std::cos(cut));
    for (unsigned l = 0; l <= 200; ++l) {
      if (l == n) continue;
      EXPECT_NEAR(k_l[l], 2 * pi * product_of_two(l, n, cut), tolerance::direct_sum * area)
          << l << " " << cut;
    }
    EXPECT_EQ(kernel.whole_multipoles(50)[n], b_l[n]);
    EXPECT_EQ(kernel.whole_multipoles(50)[n + 1], 0);
  }
}

TEST(RadialKernel, MultipolesAndProfileAreALegendrePairOrOneOfWignersFunctions) {
  std::vector<std::vector<double>> cases;
  cases.push_back(gaussian_k_l(sigma_of(arcmin(20)), 4000));
  cases.push_back(gaussian_k_l(sigma_of(degrees(30)), 100));
  cases.push_back(std::vector<double>(1000, 1.0));
  cases.push_back({0.0, 0.0, 3.0});
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  cases.emplace_back();
  for (int l = 0; l <= 600; ++l) cases.back().push_back(normal(random));
  struct Series {
    std::vector<double> k_l;
    int spin;
  };
  std::vector<Series> all;
  for (std::vector<double>& k_l : cases) {
    all.push_back({k_l, 0});
    for (std::size_t l = 0; l < 2; ++l) k_l[l] = 0;
    all.push_back({k_l, 1});
    all.push_back({k_l, 2});
  }
  for (const auto& [k_l, spin] : all) {
    const SeriesShape shape(k_l, spin);
    const int lmax = static_cast<int>(k_l.size()) + 50;
    const std::vector<double> back = shape.cut_multipoles(pi, lmax);
    double rms = 0;
    for (const double k : k_l) rms += k * k;
    rms = std::sqrt(rms / static_cast<double>(k_l.size()));
    double square = 0;
    double largest = 0;
    for (std::size_t l = 0; l < back.size(); ++l) {
      const double error = std::abs(back[l] - (l < k_l.size() ? k_l[l] : 0)) / rms;
      square += error * error;
      largest = std::max(largest, error);
    }
    const double error = std::sqrt(square / static_cast<double>(k_l.size()));
    EXPECT_LE(error, tolerance::direct_sum) << "to l = " << k_l.size() - 1;
    EXPECT_LE(largest, tolerance::max_over_rms * tolerance::direct_sum);
    std::cout << "spin " << spin << " to l = " << k_l.size() - 1 << ": rms " << error << ", max "
              << largest << '\n';
  }
}

TEST(RadialKernel, ACutGaussianKeepsItsMultipolesToTheErrorOfTheCut) {
  for (const double fwhm : {arcmin(4.7), degrees(1)}) {
    for (const double error : {1e-4, 1e-8, 1e-12}) {
      const RadialKernel kernel = RadialKernel::gaussian(fwhm, KernelSupport::automatic(error));
      const std::vector<double> k_l = kernel.multipoles(5000);
      const std::vector<double> exact = gaussian_k_l(sigma_of(fwhm), 5000);
      for (std::size_t l = 0; l < k_l.size(); ++l)
        EXPECT_NEAR(k_l[l], exact[l], 1.05 * error + tolerance::direct_sum) << l << " " << error;
    }
  }
}

TEST(RadialKernel, AGaussianForSpinIsWiderByTheSpin) {
  const double fwhm = degrees(5);
  const double sigma = sigma_of(fwhm);
  const RadialKernel scalar = RadialKernel::gaussian(fwhm, KernelSupport::whole());
  const RadialKernel spin = RadialKernel::gaussian(fwhm, KernelSupport::automatic(1e-8), 2);
  EXPECT_EQ(spin.spin(), 2);
  const std::vector<double> k_l = spin.whole_multipoles(100);
  const std::vector<double> cut = spin.multipoles(100);
  for (std::size_t l = 0; l <= 100; ++l) {
    const double expected =
        l < 2 ? 0 : std::exp(2 * sigma * sigma) * scalar.whole_multipoles(100)[l];
    EXPECT_NEAR(k_l[l], expected, 1e-15) << l;
    EXPECT_NEAR(cut[l], expected, 1.05e-8) << l;
  }
  EXPECT_NEAR(spin.at(0), spin.bound(), 1e-14 * spin.bound());
}

TEST(RadialKernel, CopiesShareTheirTable) {
  const RadialKernel kernel = RadialKernel::gaussian(0.1, KernelSupport::automatic(1e-6));
  const RadialKernel copy = kernel;
  EXPECT_EQ(&copy.table(), &kernel.table());
}

TEST(RadialKernel, TheBoundIsThePeakWhereNoMultipoleIsNegative) {
  const RadialKernel gauss = RadialKernel::gaussian(0.1, KernelSupport::automatic(1e-6));
  EXPECT_NEAR(gauss.at(0), gauss.bound(), 1e-14 * gauss.bound());
  EXPECT_GT(gauss.degree(), 150);
  const RadialKernel profile = kernel_of({{0, 0.1, 0.2}, {1, -3, 0}});
  EXPECT_EQ(profile.bound(), 3);
  EXPECT_EQ(profile.degree(), -1);
}

void expect_refusal(const std::string& words, const std::function<void()>& work) {
  try {
    work();
    ADD_FAILURE() << "no error, expected: " << words;
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr(words));
  }
}

TEST(RadialKernel, PowerBeyondADegreeIsThatOfTheHigherMultipoles) {
  const std::vector<double> b_l{1, 0.5, 0.25, 0.5};
  const RadialKernel beam = RadialKernel::from_beam(b_l, KernelSupport::angle(1));
  const double whole = 1 + 3 * 0.25 + 5 * 0.0625 + 7 * 0.25;
  EXPECT_NEAR(beam.power_beyond(2), 7 * 0.25 / whole, 1e-15);
  EXPECT_EQ(beam.power_beyond(3), 0);
  EXPECT_EQ(beam.power_beyond(90), 0);

  const double sigma = arcmin(300) / std::sqrt(8 * std::log(2.0));
  const auto profile = [&](double t) { return std::exp(-t * t / (2 * sigma * sigma)); };
  const RadialKernel table = kernel_of(tabulate(12 * sigma, 4000, profile));
  for (const int lmax : {10, 40, 80}) {
    const double expected = std::exp(-std::pow((lmax + 1) * sigma, 2));
    EXPECT_NEAR(table.power_beyond(lmax), expected, 0.002) << lmax;
  }
  // A hard edge has power at all degrees: that of a disc falls like 1 / l.
  const RadialKernel disc = kernel_of({{0, 0.1}, {1, 1}});
  EXPECT_NEAR(disc.power_beyond(400) / disc.power_beyond(800), 2, 0.1);
}

TEST(RadialKernel, RefusesTablesItCannotRead) {
  const auto refused = [](const std::string& words, const Table& table) {
    expect_refusal(words, [&] { kernel_of(table); });
  };
  refused("3 angles and 2 values", {{0, 1, 2}, {1, 1}});
  refused("1 points; expected two or more", {{0}, {1}});
  refused("begins at theta = 0.1", {{0.1, 1, 2}, {1, 1, 1}});
  refused("theta = 1 at point 2 follows 1", {{0, 1, 1, 2}, {1, 1, 1, 1}});
  refused("at most pi", {{0, 1, 2, 3, 3.5}, {1, 1, 1, 1, 1}});
  refused("value 1 is nan", {{0, 1}, {1, std::nan("")}});
  refused("theta = nan", {{0, std::nan(""), 1}, {1, 1, 1}});
  refused("all values are 0", {{0, 1}, {0, 0}});
}

TEST(RadialKernel, RefusesBeamsThatAreNone) {
  const KernelSupport whole = KernelSupport::whole();
  const auto beam = [&](const std::vector<double>& b_l) {
    return [&whole, b_l] { RadialKernel::from_beam(b_l, whole); };
  };
  expect_refusal("all values are 0", beam({}));
  expect_refusal("all values are 0", beam({0, 0}));
  expect_refusal("value 2 is inf", beam({1, 1, std::numeric_limits<double>::infinity()}));
  for (const double fwhm : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()})
    expect_refusal("expected more than 0", [&] { RadialKernel::gaussian(fwhm, whole); });
  expect_refusal("all values are 0", [&] {
    RadialKernel::from_beam(std::vector<double>{1, 1}, whole, 2);
  });
  for (const int spin : {-1, 4})
    expect_refusal("of spin", [&] { RadialKernel::gaussian(1, whole, spin); });
  expect_refusal("so narrow a kernel", [&] { RadialKernel::gaussian(1e-9, whole); });
  expect_refusal("cut it at a smaller angle", [&] { RadialKernel::gaussian(arcmin(0.05), whole); });
}

}  // namespace
}  // namespace ringweave::detail
