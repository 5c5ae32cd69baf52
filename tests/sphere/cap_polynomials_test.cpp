// SPDX-License-Identifier: GPL-3.0-or-later
#include "sphere/kernel/cap_polynomials.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "base/checked_cast.hpp"
#include "kernel_reference.hpp"
#include "ringweave/error.hpp"
#include "ringweave/kernel.hpp"
#include "sphere/kernel/legendre_sums.hpp"
#include "support/angles.hpp"
#include "support/tolerance.hpp"

namespace ringweave::detail {
namespace {

/// [node][polynomial]
std::vector<std::vector<double>> values_of(const CapPolynomials& polynomials,
                                           const std::vector<double>& u) {
  std::vector<std::vector<double>> values;
  for (const double at : u) {
    values.emplace_back(to_size(polynomials.size()));
    polynomials.evaluate(at, values.back());
  }
  return values;
}

TEST(CapPolynomials, AreOrthonormalOverTheirCap) {
  for (const double theta_cut : {0.002, 0.07, 0.5, 1.5}) {
    constexpr int size = 300;
    const CapPolynomials polynomials(theta_cut, size);
    const CapNodes nodes = cap_nodes(theta_cut, size, 0);
    const auto p = values_of(polynomials, nodes.u);
    double worst = 0;
    for (std::size_t j = 0; j < size; ++j) {
      for (std::size_t k = 0; k <= j; ++k) {
        double sum = 0;
        for (std::size_t i = 0; i < p.size(); ++i) sum += nodes.weight[i] * p[i][j] * p[i][k];
        worst = std::max(worst, std::abs(sum - (j == k ? 1 : 0)));
      }
    }
    EXPECT_LE(worst, 1e-13) << theta_cut;
  }
}

TEST(CapPolynomials, EndSmoothly) {
  const CapPolynomials polynomials(0.3, 40);
  const double h = 1e-6;
  const auto p = values_of(polynomials, {1, 1 - h, 1 - 2 * h});
  for (std::size_t k = 0; k < 40; ++k) {
    EXPECT_EQ(p[0][k], 0);
    EXPECT_NEAR(p[2][k] / p[1][k], 4, 0.01);
  }
}

TEST(CapPolynomials, SumIsTheSumOfTheirValues) {
  const CapPolynomials polynomials(0.4, 7);
  const std::vector<double> coefficient = {1, -2, 0.5, 3, -1, 0.25, 2};
  for (const double u : {0.0, 0.1, 0.7, 1.0}) {
    std::vector<double> value(7);
    polynomials.evaluate(u, value);
    double sum = 0;
    for (std::size_t k = 0; k < value.size(); ++k) sum += coefficient[k] * value[k];
    EXPECT_NEAR(polynomials.sum(coefficient, u), sum, 1e-13 * (1 + std::abs(sum)));
  }
}

TEST(CapPolynomials, OfTheSizeForADegreeFollowItsLegendrePolynomialAwayFromTheEdge) {
  const double theta_cut = 0.4;
  const int l = 100;
  const int size = CapPolynomials::size_for(theta_cut, l) + 10;
  const CapPolynomials polynomials(theta_cut, size);
  const CapNodes nodes = cap_nodes(theta_cut, size, l);
  const auto p = values_of(polynomials, nodes.u);
  std::vector<double> unit(to_size(l) + 1, 0.0);
  unit.back() = 1;
  const std::vector<double> legendre = sum_legendre_series(unit, nodes.chord_squared).near;
  // (1 - u)^2 P_l, which is in their span.
  std::vector<double> coefficient(to_size(size), 0.0);
  const auto wanted = [&](std::size_t i) {
    return (1 - nodes.u[i]) * (1 - nodes.u[i]) * legendre[i];
  };
  for (std::size_t i = 0; i < p.size(); ++i) {
    for (std::size_t k = 0; k < coefficient.size(); ++k)
      coefficient[k] += nodes.weight[i] * wanted(i) * p[i][k];
  }
  for (std::size_t i = 0; i < p.size(); ++i)
    EXPECT_NEAR(polynomials.sum(coefficient, nodes.u[i]), wanted(i), 1e-12);
}

TEST(CapPolynomials, RefuseWhatIsNoCap) {
  EXPECT_THROW(CapPolynomials(0, 3), UsageError);
  EXPECT_THROW(CapPolynomials(1.6, 3), UsageError);
  EXPECT_THROW(CapPolynomials(0.1, 0), UsageError);
}

/// A kernel whose coefficients fall like those of a smooth one.
std::vector<double> smooth_coefficients(int size) {
  std::vector<double> x;
  for (int k = 0; k < size; ++k) x.push_back(std::cos(1.3 * k) * std::exp(-8.0 * k / size));
  return x;
}

class RadialKernelOnACap : public testing::TestWithParam<int> {
 protected:
  int spin_ = GetParam();
};

TEST_P(RadialKernelOnACap, IsItsSeriesWithinAndZeroBeyond) {
  for (const double theta_cut : {0.02, 0.5, 1.5}) {
    const std::vector<double> x = smooth_coefficients(60);
    const RadialKernel kernel = RadialKernel::on_cap(theta_cut, x, spin_);
    const CapPolynomials polynomials(theta_cut, 60);
    EXPECT_EQ(kernel.spin(), spin_);
    EXPECT_EQ(kernel.support(), theta_cut);
    EXPECT_EQ(kernel.degree(), -1);
    double worst = 0;
    for (int i = 0; i <= 1000; ++i) {
      const double theta = theta_cut * i / 1000;
      const double sine = std::sin(theta / 2) / std::sin(theta_cut / 2);
      worst = std::max(worst, std::abs(kernel.at(theta) - polynomials.sum(x, sine * sine)));
    }
    EXPECT_LE(worst, tolerance::direct_sum * kernel.bound()) << theta_cut;
    EXPECT_EQ(kernel.at(theta_cut * (1 + 1e-9)), 0);
  }
}

TEST_P(RadialKernelOnACap, HasTheMultipolesOfItsIntegral) {
  const double theta_cut = 0.6;
  const std::vector<double> x = smooth_coefficients(50);
  const RadialKernel kernel = RadialKernel::on_cap(theta_cut, x, spin_);
  const std::vector<double> k_l = kernel.multipoles(200);
  for (int l = 0; l < spin_; ++l) EXPECT_EQ(k_l[to_size(l)], 0);
  // The midpoint rule in theta; the integrand is smooth at both ends too.
  constexpr int n = 20000;
  for (const int l : {spin_, spin_ + 1, 7, 60, 200}) {
    std::vector<double> unit(to_size(l) + 1, 0.0);
    unit.back() = 4 * pi / (2.0 * l + 1);
    const auto d_l = [&](double theta) {
      return static_cast<double>(spin_ == 0 ? series_reference(unit, theta)
                                            : spin_series_reference(unit, spin_, theta));
    };
    double sum = 0;
    for (int i = 0; i < n; ++i) {
      const double theta = theta_cut * (i + 0.5) / n;
      sum += kernel.at(theta) * d_l(theta) * std::sin(theta);
    }
    EXPECT_NEAR(k_l[to_size(l)], 2 * pi * theta_cut / n * sum, 1e-7 * std::abs(k_l[to_size(spin_)]))
        << l;
  }
  // Parseval: all multipoles together have the coefficients' power.
  double power = 0;
  double square = 0;
  const std::vector<double> many = kernel.multipoles(2000);
  for (std::size_t l = 0; l < many.size(); ++l)
    power += (2.0 * static_cast<double>(l) + 1) * many[l] * many[l];
  for (const double value : x) square += 4 * pi * value * value;
  EXPECT_NEAR(power / square, 1, 1e-9);
}

INSTANTIATE_TEST_SUITE_P(Spins, RadialKernelOnACap, testing::Values(0, 1, 2, 3));

}  // namespace
}  // namespace ringweave::detail
