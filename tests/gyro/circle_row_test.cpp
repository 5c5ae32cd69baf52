// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>
#include <cstdio>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/gauss_legendre.hpp"
#include "gyro/direct_gyroaverage.hpp"
#include "gyro/exact_average.hpp"
#include "gyro/operator_rows.hpp"
#include "ringweave/error.hpp"
#include "ringweave/gyroaverage.hpp"
#include "support/expect_error.hpp"
#include "support/tolerance.hpp"

namespace ringweave::detail {
namespace {

using namespace test;

std::vector<double> row_at(const PlaneGrid& grid, Interpolation interpolation, double x, double y,
                           double rho) {
  return dense_row(grid, stencil_row(grid, interpolation, x, y, rho));
}

double sum_of(const std::vector<double>& row) {
  double sum = 0;
  for (const double weight : row) sum += weight;
  return sum;
}

TEST(CircleRow, IsTheAverageOfTheInterpolantForAllBoundaries) {
  std::mt19937_64 random(11);
  std::printf("seed 11\n");
  std::uniform_real_distribution<double> anywhere(0, 1);
  for (const Interpolation interpolation : {Interpolation::bilinear, Interpolation::bicubic}) {
    for (const PlaneBoundary x : boundaries) {
      for (const PlaneBoundary y : boundaries) {
        // Spacings 0.5 and 0.7.
        const PlaneGrid grid{plane_axis(12, x, -2, 3.5), plane_axis(11, y, 1, 8)};
        for (const double rho : {0.05, 0.31, 1.3, 3.14, 6.2, 9.1}) {
          const double cx = 11 * anywhere(random);
          const double cy = 10 * anywhere(random);
          const std::vector<double> row =
              row_at(grid, interpolation, -2 + 0.5 * cx, 1 + 0.7 * cy, rho);
          const std::vector<Long> direct =
              direct_row(grid, interpolation, cx, cy, rho / Long{0.5L}, rho / Long{0.7L});
          EXPECT_LT(largest_difference(direct, row), tolerance::gyro_weights)
              << "rho " << rho << " boundaries " << static_cast<int>(x) << static_cast<int>(y);
        }
      }
    }
  }
}

TEST(CircleRow, OfNodesAtEdgesAndInCornersIsTheAverageOfTheInterpolant) {
  for (const Interpolation interpolation : {Interpolation::bilinear, Interpolation::bicubic}) {
    const PlaneGrid grid{plane_axis(10, PlaneBoundary::zero, 0, 9),
                         plane_axis(13, PlaneBoundary::zero, 0, 12)};
    for (const double rho : {0.1, 1.0, 2.5, 3.0, 9.0, 10.4, 15.0 + 1e-3}) {
      for (const double x : {0.0, 1.0, 4.0, 8.0, 9.0}) {
        for (const double y : {0.0, 5.0, 12.0}) {
          const std::vector<double> row = row_at(grid, interpolation, x, y, rho);
          EXPECT_LT(largest_difference(direct_row(grid, interpolation, x, y, rho, rho), row),
                    tolerance::gyro_weights)
              << "rho " << rho << " at " << x << " " << y;
        }
      }
    }
  }
}

TEST(CircleRow, RadiusZeroIsTheIdentityAndBeyondTheDiagonalNothingIsLeft) {
  for (const Interpolation interpolation : {Interpolation::bilinear, Interpolation::bicubic}) {
    const PlaneGrid grid{plane_axis(10, PlaneBoundary::zero), plane_axis(17, PlaneBoundary::zero)};
    for (const std::int64_t x : {0, 4, 9}) {
      for (const std::int64_t y : {0, 9, 16}) {
        const auto row = stencil_row(grid, interpolation, grid.x.node(x), grid.y.node(y), 0);
        ASSERT_EQ(row.size(), 1U);
        EXPECT_EQ(row[0].x, x);
        EXPECT_EQ(row[0].y, y);
        EXPECT_EQ(row[0].weight, 1);
        EXPECT_TRUE(stencil_row(grid, interpolation, grid.x.node(x), grid.y.node(y), 2.83).empty());
        EXPECT_TRUE(
            stencil_row(grid, interpolation, grid.x.node(x), grid.y.node(y), 1e200).empty());
      }
    }
  }
}

TEST(CircleRow, ConstantsStayConstantWhereCirclesStayInsideOrTouchTheEdge) {
  for (const Interpolation interpolation : {Interpolation::bilinear, Interpolation::bicubic}) {
    for (const std::int64_t n : {11, 24, 65}) {
      const PlaneGrid grid{plane_axis(n, PlaneBoundary::zero, -1, 1),
                           plane_axis(n, PlaneBoundary::zero, -0.3, 0.4)};
      const double hx = grid.x.spacing();
      const double hy = grid.y.spacing();
      for (std::int64_t k = 1; 2 * k < n; k += 3) {
        // Touches the left edge, in units of either spacing.
        for (const double rho : {static_cast<double>(k) * hx, static_cast<double>(k) * hy}) {
          if (rho / hy > static_cast<double>(n - 1 - n / 2) + 1e-9) continue;
          for (const std::int64_t x : {k, n / 2, n - 1 - k}) {
            EXPECT_NEAR(
                sum_of(row_at(grid, interpolation, grid.x.node(x), grid.y.node(n / 2), rho)), 1,
                tolerance::gyro_weights)
                << "n " << n << " radius " << k << " x " << x;
          }
        }
      }
      // The largest circle touches all edges.
      if (n % 2 == 1) {
        const PlaneGrid square{grid.x, plane_axis(n, PlaneBoundary::zero, 5, 7)};
        EXPECT_NEAR(sum_of(row_at(square, interpolation, 0, 6, static_cast<double>(n / 2) * hx)), 1,
                    tolerance::gyro_weights);
      }
    }
  }
}

TEST(CircleRow, PolynomialsOfTheMethodAreReproducedUpToTheEdges) {
  const std::vector<QuadratureNode> rule = gauss_legendre_nodes(40);
  for (const Interpolation interpolation : {Interpolation::bilinear, Interpolation::bicubic}) {
    const int degree = interpolation == Interpolation::bilinear ? 1 : 3;
    const PlaneGrid grid{plane_axis(14, PlaneBoundary::zero), plane_axis(11, PlaneBoundary::zero)};
    for (const double rho : {0.05, 0.47, 0.93, 1.7}) {
      for (const std::int64_t j : {0, 1, 5, 8}) {
        for (const std::int64_t i : {0, 2, 6, 13}) {
          const auto row = stencil_row(grid, interpolation, grid.x.node(i), grid.y.node(j), rho);
          for (int a = 0; a <= degree; ++a) {
            for (int b = 0; b <= degree; ++b) {
              Long sum = 0;
              for (const GyroWeight& w : row)
                sum += w.weight * std::pow(grid.x.node(w.x), a) * std::pow(grid.y.node(w.y), b);
              const Long exact = exact_average<Long>(
                  {}, grid.x.node(i), grid.y.node(j), rho, {}, rule,
                  [&](Long x, Long y) { return std::pow(x, a) * std::pow(y, b); });
              EXPECT_NEAR(static_cast<double>(sum - exact), 0, tolerance::gyro_weights)
                  << a << " " << b << " rho " << rho << " at " << i << " " << j;
            }
          }
        }
      }
    }
  }
}

TEST(CircleRow, NodesThatDoNotSuitTheMethodAreNamed) {
  const PlaneGrid equispaced{plane_axis(12, PlaneBoundary::zero),
                             plane_axis(12, PlaneBoundary::zero)};
  PlaneGrid chebyshev = equispaced;
  chebyshev.x.nodes = chebyshev.y.nodes = PlaneNodes::chebyshev;
  for (const GyroMethod method : {GyroMethod::bilinear, GyroMethod::bicubic, GyroMethod::dct}) {
    expect_error(ErrorKind::usage, "the nodes of axis x are Chebyshev",
                 [&] { circle_row(chebyshev, method, 0, 0, 0.3); });
  }
  expect_error(ErrorKind::usage, "the nodes of axis x are equispaced",
               [&] { circle_row(equispaced, GyroMethod::chebyshev, 0, 0, 0.3); });
  chebyshev.y.boundary = PlaneBoundary::mirror;
  expect_error(ErrorKind::usage, "axis y is mirrored",
               [&] { circle_row(chebyshev, GyroMethod::chebyshev, 0, 0, 0.3); });
}

TEST(CircleRow, PointsOutsideByRoundingAreOnTheEdge) {
  for (const GyroMethod method :
       {GyroMethod::bilinear, GyroMethod::bicubic, GyroMethod::dct, GyroMethod::chebyshev}) {
    PlaneGrid grid{plane_axis(12, PlaneBoundary::zero), plane_axis(12, PlaneBoundary::zero)};
    if (method == GyroMethod::chebyshev) grid.x.nodes = grid.y.nodes = PlaneNodes::chebyshev;
    for (const double rho : {0.0, 1e-12, 0.3}) {
      EXPECT_EQ(largest_difference(dense_row(grid, circle_row(grid, method, 1 + 1e-11, 0.2, rho)),
                                   dense_row(grid, circle_row(grid, method, 1, 0.2, rho))),
                0);
    }
  }
}

TEST(CircleRow, NodesOccurOnceAndInOrder) {
  const PlaneGrid grid{plane_axis(10, PlaneBoundary::periodic),
                       plane_axis(11, PlaneBoundary::mirror)};
  const auto row = stencil_row(grid, Interpolation::bicubic, 0.1, 0.2, 3.3);
  for (std::size_t k = 1; k < row.size(); ++k) {
    EXPECT_LT(row[k - 1].y * 10 + row[k - 1].x, row[k].y * 10 + row[k].x);
  }
}

/// A radius for each node of some rows, and random fields and results.
struct RadiiProblem {
  PlaneGrid grid{plane_axis(13, PlaneBoundary::zero), plane_axis(40, PlaneBoundary::periodic)};
  std::int64_t row_begin = 2;
  std::int64_t row_end = 39;
  std::vector<double> radii;
  ComponentBuffer<double> fields{2, grid.n_nodes()};
  ComponentBuffer<double> results{2, (row_end - row_begin) * grid.x.size};

  RadiiProblem() {
    std::mt19937_64 random(5);
    std::printf("seed 5\n");
    std::uniform_real_distribution<double> values(-1, 1);
    for (std::int64_t k = 0; k < results.size(); ++k) radii.push_back(std::abs(values(random)));
    radii[3] = 0;
    for (std::int64_t k = 0; k < 2 * fields.size(); ++k) fields.view().data()[k] = values(random);
    for (std::int64_t k = 0; k < 2 * results.size(); ++k) results.view().data()[k] = values(random);
  }
  ComponentBuffer<double> average() const {
    ComponentBuffer<double> made(2, results.size());
    gyroaverage_with_radii<double>(grid, GyroMethod::bicubic, radii, row_begin, row_end,
                                   fields.view(), made.view());
    return made;
  }
  ComponentBuffer<double> transpose() const {
    ComponentBuffer<double> made(2, fields.size());
    std::fill_n(made.view().data(), 2 * fields.size(), 0.0);
    gyroaverage_with_radii_adjoint<double>(grid, GyroMethod::bicubic, radii, row_begin, row_end,
                                           results.view(), made.view());
    return made;
  }
};

double product_of(const ComponentBuffer<double>& a, const ComponentBuffer<double>& b) {
  double sum = 0;
  for (std::int64_t k = 0; k < 2 * a.size(); ++k) sum += a.view().data()[k] * b.view().data()[k];
  return sum;
}

TEST(RadiusField, AveragesOverTheRadiusOfEachNode) {
  const RadiiProblem problem;
  const ComponentBuffer<double> averages = problem.average();
  for (const std::int64_t target : {0, 3, 77, 480}) {
    const auto row = stencil_row(
        problem.grid, Interpolation::bicubic, problem.grid.x.node(target % 13),
        problem.grid.y.node(problem.row_begin + target / 13), problem.radii[to_size(target)]);
    for (const std::int64_t f : {0, 1}) {
      double sum = 0;
      for (const GyroWeight& w : row)
        sum += w.weight * problem.fields.view().component(f)[w.y * 13 + w.x];
      EXPECT_NEAR(averages.view().component(f)[target], sum, tolerance::gyro_weights);
    }
  }
}

TEST(RadiusField, AdjointIsTheTranspose) {
  const RadiiProblem problem;
  const ComponentBuffer<double> averages = problem.average();
  const double norms =
      std::sqrt(product_of(averages, averages) * product_of(problem.results, problem.results));
  const double scale = norms / std::sqrt(static_cast<double>(2 * averages.size()));
  const double gap =
      product_of(averages, problem.results) - product_of(problem.fields, problem.transpose());
  EXPECT_LT(std::abs(gap) / scale, tolerance::adjoint);
}

TEST(RadiusField, AdjointAddsToFields) {
  const RadiiProblem problem;
  const ComponentBuffer<double> added = problem.transpose();
  ComponentBuffer<double> fields(2, added.size());
  std::fill_n(fields.view().data(), 2 * fields.size(), 0.5);
  gyroaverage_with_radii_adjoint<double>(problem.grid, GyroMethod::bicubic, problem.radii,
                                         problem.row_begin, problem.row_end, problem.results.view(),
                                         fields.view());
  for (std::int64_t k = 0; k < 2 * fields.size(); ++k)
    ASSERT_NEAR(fields.view().data()[k], 0.5 + added.view().data()[k], tolerance::gyro_weights);
}

TEST(RadiusField, HasTheSameBitsForAnyNumberOfThreads) {
  const RadiiProblem problem;
  const int before = omp_get_max_threads();
  omp_set_num_threads(1);
  const ComponentBuffer<double> averages = problem.average();
  const ComponentBuffer<double> fields = problem.transpose();
  for (const int n_threads : {2, 3}) {
    omp_set_num_threads(n_threads);
    const ComponentBuffer<double> averages_now = problem.average();
    const ComponentBuffer<double> fields_now = problem.transpose();
    for (std::int64_t k = 0; k < 2 * averages.size(); ++k)
      ASSERT_EQ(averages.view().data()[k], averages_now.view().data()[k]);
    for (std::int64_t k = 0; k < 2 * fields.size(); ++k)
      ASSERT_EQ(fields.view().data()[k], fields_now.view().data()[k]);
  }
  omp_set_num_threads(before);
}

TEST(RadiusField, WrongArgumentsAreNamed) {
  RadiiProblem problem;
  problem.radii[30] = -1;
  expect_error(ErrorKind::usage, "radius -1 at row 4, column 4", [&] { problem.average(); });
  problem.radii[30] = std::numeric_limits<double>::quiet_NaN();
  expect_error(ErrorKind::usage, "radius nan at row 4", [&] { problem.average(); });
  problem.radii.pop_back();
  expect_error(ErrorKind::usage, "480 radii", [&] { problem.average(); });
  problem.row_end = 41;
  expect_error(ErrorKind::usage, "rows 2 .. 41", [&] { problem.average(); });
  problem.grid.x.size = 9;
  expect_error(ErrorKind::usage, "axis x has 9 nodes; method bicubic needs at least 10",
               [&] { problem.average(); });
  problem.grid.x.size = 13;
  problem.grid.x.nodes = PlaneNodes::chebyshev;
  expect_error(ErrorKind::usage, "the nodes of axis x are Chebyshev", [&] { problem.average(); });
}

}  // namespace
}  // namespace ringweave::detail
