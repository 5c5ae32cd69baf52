// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <numbers>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/gauss_legendre.hpp"
#include "gyro/exact_average.hpp"
#include "gyro/gyro_checks.hpp"
#include "gyro/gyro_problem.hpp"
#include "gyro/schemes.hpp"
#include "support/tolerance.hpp"

namespace ringweave {
namespace {

using namespace detail;
using detail::test::bell;
using detail::test::exact_average;
using detail::test::random_values;

using Plane = std::vector<double>;
using Function = std::function<double(double, double)>;

constexpr double pi = std::numbers::pi;

PlaneAxis axis(std::int64_t size, PlaneBoundary boundary, double first = -1, double last = 1) {
  return {.size = size, .first = first, .last = last, .boundary = boundary};
}

GyroSpec dct_spec(const PlaneGrid& grid, std::vector<double> radii, std::int64_t padding = -1) {
  GyroSpec spec;
  spec.grid = grid;
  spec.radii = std::move(radii);
  spec.method = GyroMethod::dct;
  spec.padding = padding;
  return spec;
}

GyroSpec square_spec(std::int64_t n, std::vector<double> radii, std::int64_t padding = -1) {
  return dct_spec({axis(n, PlaneBoundary::zero), axis(n, PlaneBoundary::zero)}, std::move(radii),
                  padding);
}

double coordinate(const PlaneAxis& nodes, std::int64_t i) {
  return nodes.first + static_cast<double>(i) * nodes.spacing();
}

Plane sample(const PlaneGrid& grid, const Function& f) {
  Plane plane;
  for (std::int64_t j = 0; j < grid.y.size; ++j) {
    for (std::int64_t i = 0; i < grid.x.size; ++i)
      plane.push_back(f(coordinate(grid.x, i), coordinate(grid.y, j)));
  }
  return plane;
}

/// A scheme with tables of all radii, and a worker.
struct Averages {
  explicit Averages(const GyroSpec& spec, int n_threads = 1)
      : scheme(make_dct_scheme(spec)),
        work(scheme->make_work(2, n_threads)),
        n_nodes(spec.grid.n_nodes()) {
    scheme->set_radii(0, ssize64(spec.radii));
  }
  Plane average(const Plane& plane, std::int64_t radius, Direction direction = Direction::average) {
    scheme->clear(*work, direction);
    load(plane);
    scheme->add(*work, radius, 1);
    return stored();
  }
  void load(const Plane& planes) {
    scheme->load(*work, {planes.data(), ssize64(planes) / n_nodes, n_nodes});
  }
  Plane stored(std::int64_t n_planes = 1) {
    Plane planes(to_size(n_planes * n_nodes));
    scheme->store(*work, {planes.data(), n_planes, n_nodes}, Accumulate::overwrite);
    return planes;
  }

  std::unique_ptr<Scheme> scheme;
  std::unique_ptr<SchemeWork> work;
  std::int64_t n_nodes;
};

double largest(const Plane& plane) {
  double value = 0;
  for (const double a : plane) value = std::max(value, std::abs(a));
  return value;
}
/// Returns the largest error over the largest value.
double error_of(const Plane& found, const Plane& exact) {
  EXPECT_EQ(found.size(), exact.size());
  double error = 0;
  for (std::size_t i = 0; i < exact.size(); ++i)
    error = std::max(error, std::abs(found[i] - exact[i]));
  return error / largest(exact);
}
double inner(const Plane& a, const Plane& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}
/// Grids of all pairs of boundaries.
std::vector<PlaneGrid> grids() {
  constexpr std::array boundaries{PlaneBoundary::zero, PlaneBoundary::periodic,
                                  PlaneBoundary::mirror};
  std::vector<PlaneGrid> all;
  for (const PlaneBoundary x : boundaries) {
    for (const PlaneBoundary y : boundaries) all.push_back({axis(13, x), axis(10, y, -0.5, 1.5)});
  }
  return all;
}

TEST(DctScheme, MultipliesPlaneWavesByJ0) {
  const PlaneGrid grid{axis(30, PlaneBoundary::periodic, 0, 29.0 / 30),
                       axis(35, PlaneBoundary::periodic, -2, 4.8)};
  const double y_period = 35 * grid.y.spacing();
  for (const double rho : {0.0, 0.03, 0.4, 2.5}) {
    Averages averages(dct_spec(grid, {rho}));
    for (const int k : {0, 1, 14}) {
      for (const int l : {0, 3, -17}) {
        const double k_x = 2 * pi * k;
        const double k_y = 2 * pi * l / y_period;
        const double factor = ::j0(rho * std::hypot(k_x, k_y));
        const auto wave = [&](double x, double y) { return std::cos(k_x * x + k_y * y + 0.3); };
        const Plane found = averages.average(sample(grid, wave), 0);
        Plane exact = sample(grid, wave);
        for (double& value : exact) value *= factor;
        for (std::size_t i = 0; i < exact.size(); ++i)
          EXPECT_NEAR(found[i], exact[i], tolerance::gyro_dct_row);
      }
    }
  }
}

TEST(DctScheme, RadiusZeroIsTheIdentity) {
  for (const PlaneGrid& grid : grids()) {
    const Plane plane = random_values(grid.n_nodes(), 11);
    for (const Direction direction : {Direction::average, Direction::transpose}) {
      EXPECT_LE(error_of(Averages(dct_spec(grid, {0.0})).average(plane, 0, direction), plane),
                tolerance::gyro_dct);
    }
  }
}

TEST(DctScheme, IsExactForAResolvedBell) {
  constexpr double steepness = 40;
  const auto f = [](double x, double y) { return std::exp(-steepness * (x * x + y * y)); };
  const std::vector<double> radii{0.0625, 0.46875, 0.875, 1.5};
  const GyroSpec spec = square_spec(64, radii);
  Averages averages(spec);
  for (std::int64_t r = 0; r < ssize64(radii); ++r) {
    const double rho = radii[to_size(r)];
    // exp(-A (r^2 + rho^2)) I0(2 A rho r), as the mean over so many points that nothing is missing:
    // the product would lose digits.
    const auto exact = [&](double x, double y) {
      constexpr int n_points = 256;
      double sum = 0;
      for (int k = 0; k < n_points; ++k) {
        const double t = 2 * pi * k / n_points;
        sum += f(x + rho * std::cos(t), y + rho * std::sin(t));
      }
      return sum / n_points;
    };
    EXPECT_LE(error_of(averages.average(sample(spec.grid, f), r), sample(spec.grid, exact)),
              tolerance::gyro_dct);
  }
}

TEST(DctScheme, RowsAreThoseOfTheOperator) {
  for (const PlaneGrid& grid : grids()) {
    for (const double rho : {0.0, 0.1, 0.7, 1.9, 3.1}) {  // to beyond the diagonal
      GyroSpec spec = dct_spec(grid, {rho});
      if (rho == 0.7) spec.padding = grid.x.size;
      Averages averages(spec);
      const Plane plane = random_values(grid.n_nodes(), 1);
      const Plane found = averages.average(plane, 0);
      for (std::int64_t j = 0; j < grid.y.size; j += 3) {
        for (std::int64_t i = 0; i < grid.x.size; i += 4) {
          const auto row = circle_row(grid, GyroMethod::dct, coordinate(grid.x, i),
                                      coordinate(grid.y, j), rho, spec.padding);
          ASSERT_EQ(ssize64(row), is_beyond(grid, rho) ? 0 : grid.n_nodes());
          double sum = 0;
          for (const GyroWeight& weight : row)
            sum += weight.weight * plane[to_size(weight.y * grid.x.size + weight.x)];
          EXPECT_NEAR(sum, found[to_size(j * grid.x.size + i)], tolerance::gyro_dct_row);
        }
      }
    }
  }
}

TEST(DctScheme, RowsOfPointsBetweenNodesAverageTheSeries) {
  const auto f = [](double x, double y) { return std::exp(-40 * (x * x + y * y)); };
  const PlaneGrid grid = square_spec(64, {}).grid;
  const Plane plane = sample(grid, f);
  double sum = 0;
  for (const GyroWeight& weight : circle_row(grid, GyroMethod::dct, 0.123, -0.456, 0.4))
    sum += weight.weight * plane[to_size(weight.y * grid.x.size + weight.x)];
  EXPECT_NEAR(sum, exact_average({}, 0.123, -0.456, 0.4, {}, gauss_legendre_nodes(64), f),
              tolerance::gyro_dct_row);
}

TEST(DctScheme, TransposesExactlyOnAllAxes) {
  for (const PlaneGrid& grid : grids()) {
    const std::vector<double> radii{0.0, 0.1, 0.3, 0.7};
    Averages averages(dct_spec(grid, radii));
    const Plane f = random_values(grid.n_nodes(), 2);
    const Plane g = random_values(grid.n_nodes(), 3);
    for (std::int64_t r = 0; r < ssize64(radii); ++r) {
      const double there = inner(averages.average(f, r), g);
      const double back = inner(f, averages.average(g, r, Direction::transpose));
      EXPECT_NEAR(there, back, tolerance::adjoint * std::sqrt(inner(f, f) * inner(g, g)));
      const bool is_symmetric =
          grid.x.boundary != PlaneBoundary::mirror && grid.y.boundary != PlaneBoundary::mirror;
      if (is_symmetric) {
        EXPECT_EQ(averages.average(f, r, Direction::transpose), averages.average(f, r));
      }
    }
  }
}

TEST(DctScheme, SumsRadiiOfDifferentPaddingAndSeveralLoads) {
  for (const PlaneGrid& grid : grids()) {
    const std::vector<double> radii{0.1, 0.7, 0.15, 0.9};
    Averages averages(dct_spec(grid, radii));
    // Two planes at once.
    const Plane f = random_values(2 * grid.n_nodes(), 4);
    const Plane g = random_values(2 * grid.n_nodes(), 5);
    for (const Direction direction : {Direction::average, Direction::transpose}) {
      averages.scheme->clear(*averages.work, direction);
      averages.load(f);
      for (const std::int64_t r : {0, 1, 2}) averages.scheme->add(*averages.work, r, 0.5);
      averages.load(g);
      averages.scheme->add(*averages.work, 2, -1);
      averages.scheme->add(*averages.work, 3, 2);
      const Plane found = averages.stored(2);
      const std::int64_t n = grid.n_nodes();
      for (std::int64_t plane = 0; plane < 2; ++plane) {
        const Plane one_f(f.begin() + plane * n, f.begin() + (plane + 1) * n);
        const Plane one_g(g.begin() + plane * n, g.begin() + (plane + 1) * n);
        Plane expected(to_size(n));
        const auto include = [&](const Plane& values, std::int64_t r, double weight) {
          const Plane average = averages.average(values, r, direction);
          for (std::size_t i = 0; i < average.size(); ++i) expected[i] += weight * average[i];
        };
        for (const std::int64_t r : {0, 1, 2}) include(one_f, r, 0.5);
        include(one_g, 2, -1);
        include(one_g, 3, 2);
        for (std::int64_t i = 0; i < n; ++i)
          EXPECT_NEAR(found[to_size(plane * n + i)], expected[to_size(i)], tolerance::gyro_dct_row);
      }
    }
  }
}

TEST(DctScheme, AddsToResults) {
  Averages averages(square_spec(12, {0.2, 0.9}));
  const Plane plane = random_values(144, 6);
  for (const std::int64_t r : {0, 1}) {
    const Plane alone = averages.average(plane, r);
    averages.scheme->clear(*averages.work, Direction::average);
    averages.load(plane);
    averages.scheme->add(*averages.work, r, 1);
    Plane found(144, 3.0);
    averages.scheme->store(*averages.work, {found.data(), 1, 144}, Accumulate::add);
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_NEAR(found[i], 3 + alone[i], tolerance::gyro_dct_row);
  }
}

TEST(DctScheme, RadiiBeyondTheDiagonalGiveZeros) {
  const GyroSpec spec = square_spec(12, {2.9, 0.5, 100.0});
  Averages averages(spec);
  const Plane plane = random_values(144, 7);
  EXPECT_EQ(averages.average(plane, 0), Plane(144));
  EXPECT_EQ(averages.average(plane, 2), Plane(144));
  EXPECT_EQ(averages.scheme->table_bytes(0), 0);
  EXPECT_TRUE(circle_row(spec.grid, GyroMethod::dct, 0, 0, 2.9).empty());
  Averages only_beyond(square_spec(12, {2.9}));
  EXPECT_EQ(only_beyond.average(plane, 0), Plane(144));
}

TEST(DctScheme, RadiiOfAGroupHaveTheirOwnTables) {
  const std::vector<double> radii{0.1, 0.5, 0.9};
  Averages averages(square_spec(14, radii));
  const Plane plane = random_values(196, 8);
  const Plane all = averages.average(plane, 2);
  averages.scheme->set_radii(2, 3);
  EXPECT_EQ(averages.average(plane, 2), all);
}

TEST(DctScheme, BitsDoNotDependOnThreads) {
  for (const PlaneGrid& grid : grids()) {
    const GyroSpec spec = dct_spec(grid, {0.7});
    const Plane plane = random_values(grid.n_nodes(), 9);
    const Plane alone = Averages(spec).average(plane, 0);
    for (const int n_threads : {2, 3})
      EXPECT_EQ(Averages(spec, n_threads).average(plane, 0), alone);
  }
}

TEST(DctScheme, IndicatesWhatIsCutOffAtTheEdge) {
  const GyroSpec spec = square_spec(21, {0.5, 0.9});
  Averages averages(spec);
  const auto indicated = [&](const Plane& plane) {
    averages.load(plane);
    return averages.scheme->indicator(*averages.work);
  };
  EXPECT_NEAR(indicated(sample(spec.grid, bell<double>)), std::exp(-22.0), 1e-15);
  EXPECT_EQ(indicated(Plane(441)), 0);
  Plane plane(441);
  plane[220] = -2;
  plane[20] = -1;
  EXPECT_EQ(indicated(plane), 0.5);
  Averages periodic(dct_spec({axis(21, PlaneBoundary::periodic), spec.grid.y}, {0.5}));
  plane[210] = 1.5;
  periodic.load(plane);
  EXPECT_EQ(periodic.scheme->indicator(*periodic.work), 0.5);
}

}  // namespace
}  // namespace ringweave
