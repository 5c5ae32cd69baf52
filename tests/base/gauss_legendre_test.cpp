// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/gauss_legendre.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace ringweave::detail {
namespace {

TEST(GaussLegendre, NodesAreRootsToTheLastDigitUpToThePoles) {
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

TEST(GaussLegendre, FirstNodesFollowBesselZerosAtLargeSizes) {
  // theta_k = j_{0,k} / nu (1 - 1/(24 nu^2) ...), nu = n + 1/2: the next term is of relative order
  // nu^-4.
  for (const std::int64_t n : {16384, 65536}) {
    const std::vector<QuadratureNode> nodes = gauss_legendre_nodes(n);
    const double nu = static_cast<double>(n) + 0.5;
    constexpr double first_zero = 2.404825557695772768621631879;
    EXPECT_NEAR(nodes[0].theta * nu / first_zero, 1 - 1 / (24 * nu * nu), 1e-15);
  }
}

}  // namespace
}  // namespace ringweave::detail
