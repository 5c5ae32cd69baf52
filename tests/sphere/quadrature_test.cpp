// SPDX-License-Identifier: GPL-3.0-or-later
#include "sphere/quadrature.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "base/gauss_legendre.hpp"

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
