// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "base/checked_cast.hpp"
#include "ringweave/error.hpp"
#include "ringweave/gyroaverage.hpp"
#include "support/expect_error.hpp"

namespace ringweave::detail {
namespace {

using test::expect_error;

std::vector<double> nodes_of_axis(const PlaneAxis& axis) {
  std::vector<double> nodes;
  for (std::int64_t i = 0; i < axis.size; ++i) nodes.push_back(axis.node(i));
  return nodes;
}

TEST(PlaneAxis, NodesReachBothEndsExactlyAndAreSymmetric) {
  for (const PlaneNodes kind : {PlaneNodes::equispaced, PlaneNodes::chebyshev}) {
    for (const std::int64_t n : {2, 3, 10, 401}) {
      const PlaneAxis axis{n, -0.7, 0.7, kind};
      EXPECT_EQ(axis.node(0), -0.7);
      EXPECT_EQ(axis.node(n - 1), 0.7);
      for (std::int64_t i = 1; i < n - 1; ++i) {
        EXPECT_EQ(axis.node(i), -axis.node(n - 1 - i));
        EXPECT_LT(axis.node(i - 1), axis.node(i));
      }
    }
  }
}

TEST(PlaneAxis, NodesAreThoseOfTheDefinition) {
  const PlaneAxis equispaced{8, 1, 4.5};
  const PlaneAxis chebyshev{8, 1, 4.5, PlaneNodes::chebyshev};
  for (int i = 0; i < 8; ++i) {
    EXPECT_NEAR(equispaced.node(i), 1 + 0.5 * i, 1e-15);
    EXPECT_NEAR(chebyshev.node(i), 2.75 - 1.75 * std::cos(std::numbers::pi * i / 7), 1e-15);
  }
}

TEST(PlaneAxis, NodesAreRecognised) {
  for (const PlaneNodes kind : {PlaneNodes::equispaced, PlaneNodes::chebyshev}) {
    for (const std::int64_t n : {4, 10, 401}) {
      const PlaneAxis axis{n, -3, 1e3, kind, PlaneBoundary::mirror};
      EXPECT_EQ(PlaneAxis::of_nodes(nodes_of_axis(axis), PlaneBoundary::mirror, "x"), axis);
    }
  }
  // Two or three nodes are of both kinds.
  const PlaneAxis few{3, 0, 1, PlaneNodes::equispaced, PlaneBoundary::periodic};
  EXPECT_EQ(PlaneAxis::of_nodes(std::vector<double>{0, 0.5, 1}, PlaneBoundary::periodic, "x"), few);
}

TEST(PlaneAxis, ErrorsOfNodesUpToABillionthOfTheSpacingAreForgiven) {
  std::vector<double> nodes = nodes_of_axis({11, 0, 10});
  nodes[4] = 4 + 0.9e-9;
  EXPECT_NO_THROW(PlaneAxis::of_nodes(nodes, PlaneBoundary::zero, "x"));
  nodes[4] = 4 + 1.1e-9;
  expect_error(ErrorKind::data, "file.h5, y: node 4 (from 0) is 4.0000000011",
               [&] { PlaneAxis::of_nodes(nodes, PlaneBoundary::zero, "file.h5, y"); });
  expect_error(ErrorKind::data, "11 equispaced nodes from 0 to 10 have 4 there",
               [&] { PlaneAxis::of_nodes(nodes, PlaneBoundary::zero, "y"); });
}

TEST(PlaneAxis, TheFirstNodeThatFitsNoKindIsNamed) {
  std::vector<double> nodes = nodes_of_axis({12, 0, 1, PlaneNodes::chebyshev});
  nodes[7] += 1e-4;
  expect_error(ErrorKind::data, "x: node 7 (from 0) is ",
               [&] { PlaneAxis::of_nodes(nodes, PlaneBoundary::zero, "x"); });
  expect_error(ErrorKind::data, "12 Chebyshev nodes from 0 to 1 have ",
               [&] { PlaneAxis::of_nodes(nodes, PlaneBoundary::zero, "x"); });
}

TEST(PlaneAxis, NodesThatMakeNoAxisAreRefused) {
  const auto refuses = [](const std::vector<double>& nodes, const std::string& words) {
    expect_error(ErrorKind::data, words,
                 [&] { PlaneAxis::of_nodes(nodes, PlaneBoundary::zero, "x"); });
  };
  refuses({}, "x: 0 nodes; an axis needs 2 or more");
  refuses({1}, "x: 1 nodes");
  refuses({0, 1, 1, 2}, "node 2 (from 0) is 1, the one before 1; nodes must ascend");
  refuses({3, 2, 1}, "nodes must ascend");
  refuses({0, std::numeric_limits<double>::quiet_NaN(), 2}, "node 1 (from 0) is nan");
  refuses({0, 1, std::numeric_limits<double>::infinity()}, "node 2 (from 0) is inf");
}

TEST(PlaneAxis, APeriodicAxisOfChebyshevNodesIsRefused) {
  const std::vector<double> nodes = nodes_of_axis({12, 0, 1, PlaneNodes::chebyshev});
  expect_error(ErrorKind::data, "a periodic axis needs equispaced nodes",
               [&] { PlaneAxis::of_nodes(nodes, PlaneBoundary::periodic, "x"); });
}

}  // namespace
}  // namespace ringweave::detail
