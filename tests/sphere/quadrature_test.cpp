// SPDX-License-Identifier: GPL-3.0-or-later
#include "sphere/quadrature.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace ringweave::detail {
namespace {

constexpr long double long_pi = std::numbers::pi_v<long double>;

/// Returns the largest |sum_k w_k P_l(z_k) - 2 delta_l0| over l <= lmax, with P_l from the stored
/// theta.
double worst_integral(const std::vector<QuadratureNode>& nodes, int lmax) {
  std::vector<long double> sums(static_cast<std::size_t>(lmax) + 1);
  for (const QuadratureNode& node : nodes) {
    const long double z = std::cos(static_cast<long double>(node.theta));
    long double before = 0;
    long double p = 1;
    for (int l = 0; l <= lmax; ++l) {
      sums[static_cast<std::size_t>(l)] += node.weight * p;
      const long double next = ((2 * l + 1) * z * p - l * before) / (l + 1);
      before = p;
      p = next;
    }
  }
  sums[0] -= 2;
  long double worst = 0;
  for (const long double sum : sums) worst = std::max(worst, std::abs(sum));
  return static_cast<double>(worst);
}

TEST(Quadrature, GaussLegendreIntegratesPolynomialsUpToTwiceItsNodes) {
  for (const int n : {1, 2, 3, 8, 17, 64, 257, 1000}) {
    EXPECT_LT(worst_integral(gauss_legendre_nodes(n), 2 * n - 1), 1e-14) << n;
  }
}

TEST(Quadrature, EquidistantRulesIntegratePolynomialsBelowTheirNodes) {
  for (const int n : {1, 2, 3, 8, 17, 64, 257, 1000}) {
    EXPECT_LT(worst_integral(fejer_nodes(n), n - 1), 1e-14) << n;
    if (n > 1) {
      EXPECT_LT(worst_integral(clenshaw_curtis_nodes(n), n - 1), 1e-14) << n;
    }
  }
}

TEST(Quadrature, GaussLegendreNodesAreRootsToTheLastDigitUpToThePoles) {
  // 40 digits: Newton's method on the three-term recurrence with mpmath.
  const std::vector<QuadratureNode> nodes = gauss_legendre_nodes(3000);
  struct Expected {
    int k;
    double theta, sin_theta, weight;
  };
  for (const Expected& expected :
       {Expected{0, 0.00080147493636594937546, 0.00080147485055976845127, 8.2425417107612094815e-7},
        Expected{1, 0.0018397194083449107727, 0.0018397183705693328514, 1.918705937081164427e-6},
        Expected{11, 0.01230364878613790622, 0.012303338367893153328, 0.000012880698727328225414},
        Expected{12, 0.013350583429172527449, 0.013350186835652072304, 0.000013976865535640472836},
        Expected{13, 0.014397530915927873924, 0.014397033513033951959, 0.000015073017080477463093},
        Expected{20, 0.021726367104980022092, 0.021724657877605343664, 0.000022745548605165271322},
        Expected{750, 0.78605256666814423749, 0.7075693627368744295, 0.00074084140984288513434},
        Expected{1499, 1.5702728152784875037, 0.99999986296784922315, 0.0010470228893424102254}}) {
    const QuadratureNode& node = nodes[static_cast<std::size_t>(expected.k)];
    EXPECT_NEAR(node.theta / expected.theta, 1, 4e-16) << expected.k;
    EXPECT_NEAR(node.sin_theta / expected.sin_theta, 1, 4e-16) << expected.k;
    EXPECT_NEAR(node.weight / expected.weight, 1, 4e-16) << expected.k;
  }
}

TEST(Quadrature, FirstGaussLegendreNodesFollowBesselZerosAtLargeSizes) {
  // theta_k = j_{0,k} / nu (1 - 1/(24 nu^2) ...), nu = n + 1/2: the next term is of relative order
  // nu^-4.
  for (const std::int64_t n : {16384, 65536}) {
    const std::vector<QuadratureNode> nodes = gauss_legendre_nodes(n);
    const double nu = static_cast<double>(n) + 0.5;
    constexpr double first_zero = 2.404825557695772768621631879;
    EXPECT_NEAR(nodes[0].theta * nu / first_zero, 1 - 1 / (24 * nu * nu), 1e-15);
  }
}

TEST(Quadrature, NodesAreSymmetricAboutTheEquator) {
  for (const int n : {2, 5, 100, 101}) {
    for (const auto& nodes : {gauss_legendre_nodes(n), clenshaw_curtis_nodes(n), fejer_nodes(n)}) {
      for (int k = 0; k < n; ++k) {
        const QuadratureNode& north = nodes[static_cast<std::size_t>(k)];
        const QuadratureNode& south = nodes[static_cast<std::size_t>(n - 1 - k)];
        EXPECT_EQ(north.cos_theta, -south.cos_theta);
        EXPECT_EQ(north.sin_theta, south.sin_theta);
        EXPECT_EQ(north.weight, south.weight);
        EXPECT_NEAR(north.theta + south.theta, static_cast<double>(long_pi), 4.5e-16);
      }
    }
  }
}

TEST(Quadrature, EquidistantNodesReachThePolesExactly) {
  const std::vector<QuadratureNode> nodes = clenshaw_curtis_nodes(32769);
  EXPECT_EQ(nodes.front().sin_theta, 0);
  EXPECT_EQ(nodes.back().sin_theta, 0);
  EXPECT_EQ(nodes.front().cos_theta, 1);
  EXPECT_EQ(nodes.back().cos_theta, -1);
  EXPECT_EQ(nodes.back().theta, std::numbers::pi);
  // The weight of a pole of an even number N of intervals is 1 / (N^2 - 1).
  EXPECT_NEAR(nodes.front().weight * (32768.0 * 32768.0 - 1), 1, 1e-14);
}

}  // namespace
}  // namespace ringweave::detail
