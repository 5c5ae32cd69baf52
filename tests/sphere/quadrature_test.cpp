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

/// Returns the weight of theta = pi (k + 1/2) / n, by the sum over all multiples of it.
long double summed_fejer_weight(std::int64_t n, std::int64_t k) {
  const long double theta =
      long_pi * (2 * static_cast<long double>(k) + 1) / (2 * static_cast<long double>(n));
  long double sum = 0;
  for (std::int64_t j = n / 2; j >= 1; --j) {
    const auto degree = static_cast<long double>(j);
    const long double b = 2 * j == n ? 1 : 2;
    sum += b * std::cos(2 * degree * theta) / (4 * degree * degree - 1);
  }
  return 2 / static_cast<long double>(n) * (1 - sum);
}

TEST(Quadrature, EquidistantWeightsAreAccurateToRounding) {
  for (const std::int64_t n : {91, 500, 10000, 10001}) {
    const std::vector<QuadratureNode> nodes = fejer_nodes(n);
    // Where sums end and series begin, n sin(theta) = 45, and further on.
    for (const std::int64_t k :
         {std::int64_t{0}, std::int64_t{10}, std::int64_t{13}, std::int64_t{14}, std::int64_t{15},
          std::int64_t{16}, n / 4, n / 2 - 1}) {
      const double expected = static_cast<double>(summed_fejer_weight(n, k));
      EXPECT_NEAR(nodes[static_cast<std::size_t>(k)].weight / expected, 1, 4e-16) << n << ' ' << k;
    }
  }
}

TEST(Quadrature, WeightsOfManyNodesSumToTwo) {
  constexpr std::int64_t n = 1 << 18;
  for (const auto& nodes : {gauss_legendre_nodes(n), clenshaw_curtis_nodes(n), fejer_nodes(n)}) {
    long double sum = 0;
    for (const QuadratureNode& node : nodes) sum += node.weight;
    EXPECT_NEAR(static_cast<double>(sum), 2, 1e-14);
  }
}

}  // namespace
}  // namespace ringweave::detail
