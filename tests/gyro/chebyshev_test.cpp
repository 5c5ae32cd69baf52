// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/gauss_legendre.hpp"
#include "gyro/chebyshev_blocks.hpp"
#include "gyro/chebyshev_problem.hpp"
#include "gyro/chebyshev_rows.hpp"
#include "gyro/exact_average.hpp"
#include "gyro/host/chebyshev_kernels.hpp"
#include "gyro/operator_rows.hpp"
#include "gyro/schemes.hpp"
#include "support/only_target.hpp"
#include "support/tolerance.hpp"

namespace ringweave {
namespace {

using namespace detail;
using namespace detail::test;

using Long = long double;

std::unique_ptr<Scheme> scheme_of(const GyroSpec& spec) {
  const std::int64_t rows = spec.targets_y == 0 ? spec.grid.y.size : spec.targets_y;
  auto scheme = make_chebyshev_scheme(spec, Communicator::self(), {0, rows, 0, 1});
  scheme->set_radii(0, ssize64(spec.radii));
  return scheme;
}

std::int64_t n_targets(const GyroSpec& spec) {
  return (spec.targets_x == 0 ? spec.grid.x.size : spec.targets_x) *
         (spec.targets_y == 0 ? spec.grid.y.size : spec.targets_y);
}

std::vector<double> average(const GyroSpec& spec, const std::vector<double>& field) {
  return averaged(*scheme_of(spec), Direction::average, field, 1, n_targets(spec), {0});
}

EdgedRectangle edge_of(const PlaneGrid& grid) {
  return {grid.x.first, grid.x.last, grid.y.first, grid.y.last};
}

/// Several specifications of all kinds: squares and rectangles, odd and even, both kinds of
/// targets.
std::vector<GyroSpec> all_kinds(const std::vector<double>& radii) {
  std::vector<GyroSpec> specs = {
      chebyshev_spec(chebyshev_axis(12), chebyshev_axis(12), radii),
      chebyshev_spec(chebyshev_axis(13, 0, 3), chebyshev_axis(13, 2, 5), radii),
      chebyshev_spec(chebyshev_axis(12), chebyshev_axis(15), radii),
      chebyshev_spec(chebyshev_axis(13, -1, 1), chebyshev_axis(13, 0, 1.3), radii),
      chebyshev_spec(chebyshev_axis(2), chebyshev_axis(3), radii)};
  for (int i = 0; i < 4; ++i) {
    specs.push_back(specs[to_size(i)]);
    specs.back().targets_x = 17;
    specs.back().targets_y = i == 1 ? 14 : 17;
  }
  return specs;
}

std::string name_of_spec(const GyroSpec& spec) {
  return std::to_string(spec.grid.x.size) + " x " + std::to_string(spec.grid.y.size) + " to " +
         std::to_string(spec.targets_x) + " x " + std::to_string(spec.targets_y);
}

/// The row of T_p(x) T_q(y) in higher precision, with three times the nodes.
std::vector<double> row_in_long_double(Long x, Long y, Long rho, std::int64_t n,
                                       const std::vector<QuadratureNode>& rule) {
  std::vector<Long> sums(to_size(n * n));
  std::vector<Long> tx(to_size(n));
  std::vector<Long> ty(to_size(n));
  const auto polynomials = [&](Long u, std::vector<Long>& t) {
    t[0] = 1;
    t[1] = u;
    for (std::size_t p = 2; p < t.size(); ++p) t[p] = 2 * u * t[p - 1] - t[p - 2];
  };
  for_each_on_circle<Long>({}, x, y, rho, {}, rule, [&](Long at_x, Long at_y, Long weight) {
    polynomials(at_x, tx);
    polynomials(at_y, ty);
    for (std::int64_t q = 0; q < n; ++q) {
      const Long factor = weight * ty[to_size(q)];
      for (std::int64_t p = 0; p < n; ++p) sums[to_size(q * n + p)] += factor * tx[to_size(p)];
    }
  });
  return {sums.begin(), sums.end()};
}

/// Compares rows of targets whose indices along both axes are among `indices`, which ascend.
void expect_rows_as_in_long_double(std::int64_t n, const std::vector<std::int64_t>& indices,
                                   std::int64_t rule_size, const std::vector<double>& radii) {
  const auto rule = gauss_legendre_nodes(rule_size);
  double most = 0;
  for (const double rho : radii) {
    for (const std::int64_t b : indices) {
      for (const std::int64_t a : indices) {
        if (a > b) break;
        const UnitEllipse ellipse{unit_node(PlaneNodes::chebyshev, a, n),
                                  unit_node(PlaneNodes::chebyshev, b, n), rho, rho};
        const InsideArcs arcs = arcs_inside(ellipse, n, n);
        GaussRules rules;
        for (std::int64_t i = 0; i < arcs.count; ++i) rules.need(arcs.arcs[to_size(i)].n_nodes);
        rules.make();
        std::vector<double> row(to_size(n * padded_length(n)));
        ChebyshevRows(n, n, arcs.n_nodes()).compute(ellipse, arcs, rules, row.data());
        const std::vector<double> expected =
            row_in_long_double(ellipse.x.u, ellipse.y.u, rho, n, rule);
        for (std::int64_t q = 0; q < n; ++q) {
          for (std::int64_t p = 0; p < n; ++p) {
            most = std::max(most, std::abs(row[to_size(q * padded_length(n) + p)] -
                                           expected[to_size(q * n + p)]));
          }
        }
      }
    }
  }
  EXPECT_LT(most, tolerance::chebyshev_entries) << n;
}

TEST(ChebyshevRows, AgreeWithHigherPrecisionAndThreeTimesTheNodes) {
  expect_rows_as_in_long_double(16, {0, 1, 2, 3, 4, 5, 6, 7}, 120,
                                {0.004, 0.0625, 0.46875, 0.875, 1.9});
  expect_rows_as_in_long_double(80, {0, 19, 38}, 400, {0.0625, 0.46875, 0.875, 2.2});
  const std::vector<double> radii = {0.004, 0.3, 1.3, 2.2};
  expect_rows_as_in_long_double(128, {0, 63}, 600, radii);
  expect_rows_as_in_long_double(128, {1}, 600, radii);  // next to the corner
}

TEST(ChebyshevScheme, IsExactForPolynomials) {
  const auto rule = gauss_legendre_nodes(40);
  for (const GyroSpec& spec : all_kinds({0.7})) {
    SCOPED_TRACE(name_of_spec(spec));
    const std::vector<double> x = target_places(spec.grid.x, spec.targets_x);
    const std::vector<double> y = target_places(spec.grid.y, spec.targets_y);
    const double middle_x = (spec.grid.x.first + spec.grid.x.last) / 2;
    const double middle_y = (spec.grid.y.first + spec.grid.y.last) / 2;
    for (const int a : {0, 1, 2, static_cast<int>(spec.grid.x.size) - 1}) {
      for (const int b : {0, static_cast<int>(spec.grid.y.size) - 1}) {
        if (a >= spec.grid.x.size) continue;
        const auto f = [&](double at_x, double at_y) {
          return std::pow((at_x - middle_x) / 1.5, a) * std::pow((at_y - middle_y) / 1.5, b);
        };
        const std::vector<double> expected = on_nodes(x, y, [&](double at_x, double at_y) {
          return exact_average(edge_of(spec.grid), at_x, at_y, 0.7, {}, rule, f);
        });
        const std::vector<double> found = average(
            spec, on_nodes(target_places(spec.grid.x, 0), target_places(spec.grid.y, 0), f));
        EXPECT_LT(largest_gap(found, expected), tolerance::chebyshev_polynomials) << a << " " << b;
      }
    }
  }
}

TEST(ChebyshevScheme, HasAnExactTranspose) {
  for (const GyroSpec& spec : all_kinds({0.3, 0.9})) {
    SCOPED_TRACE(name_of_spec(spec));
    const auto scheme = scheme_of(spec);
    const std::vector<double> f = random_values(spec.grid.n_nodes(), 1);
    const std::vector<double> g = random_values(n_targets(spec), 2);
    const auto gf = averaged(*scheme, Direction::average, f, 1, n_targets(spec), {0, 1});
    const auto gt = averaged(*scheme, Direction::transpose, g, 1, spec.grid.n_nodes(), {0, 1});
    double there = 0;
    double back = 0;
    double scale = 0;
    for (std::size_t i = 0; i < g.size(); ++i) {
      there += gf[i] * g[i];
      scale += std::abs(gf[i] * g[i]);
    }
    for (std::size_t i = 0; i < f.size(); ++i) back += f[i] * gt[i];
    EXPECT_LT(std::abs(there - back), tolerance::adjoint * scale);
  }
}

TEST(ChebyshevScheme, KeepsTheSymmetriesOfTheSquare) {
  for (const std::int64_t n : {14, 15}) {
    const GyroSpec spec = chebyshev_spec(chebyshev_axis(n), chebyshev_axis(n), {0.6});
    const auto scheme = scheme_of(spec);
    const std::vector<double> f = random_values(n * n, 3);
    const auto expected = averaged(*scheme, Direction::average, f, 1, n * n, {0});
    for (int symmetry = 1; symmetry < 8; ++symmetry) {
      const auto found =
          averaged(*scheme, Direction::average, moved(f, n, symmetry), 1, n * n, {0});
      EXPECT_LT(largest_gap(found, moved(expected, n, symmetry)), tolerance::chebyshev_symmetry)
          << symmetry;
    }
  }
}

TEST(ChebyshevScheme, AgreesWithSingleRows) {
  for (const GyroSpec& spec : all_kinds({0.55})) {
    SCOPED_TRACE(name_of_spec(spec));
    const std::vector<double> f = random_values(spec.grid.n_nodes(), 4);
    const std::vector<double> found = average(spec, f);
    const std::vector<double> x = target_places(spec.grid.x, spec.targets_x);
    const std::vector<double> y = target_places(spec.grid.y, spec.targets_y);
    for (std::size_t b = 0; b < y.size(); b += 2) {
      for (std::size_t a = 0; a < x.size(); ++a) {
        double sum = 0;
        std::int64_t node = 0;
        for (const GyroWeight& weight : chebyshev_row(spec.grid, x[a], y[b], 0.55)) {
          ASSERT_EQ(weight.y * spec.grid.x.size + weight.x, node++);
          sum += weight.weight * f[to_size(weight.y * spec.grid.x.size + weight.x)];
        }
        ASSERT_EQ(node, spec.grid.n_nodes());
        EXPECT_NEAR(sum, found[b * x.size() + a], tolerance::chebyshev_polynomials);
      }
    }
  }
}

TEST(ChebyshevScheme, TakesCirclesThatTouchTheEdgeAsInside) {
  for (const auto& [first, last] :
       {std::pair{-1.0, 1.0}, std::pair{0.1, 2.7}, std::pair{5.0, 5.7}}) {
    GyroSpec spec =
        chebyshev_spec(chebyshev_axis(20, first, last), chebyshev_axis(20, first, last), {});
    constexpr std::int64_t n = 41;
    spec.targets_x = spec.targets_y = n;
    const double h = (last - first) / (n - 1);
    for (int k = 1; k <= 20; ++k) spec.radii.push_back(k * h);
    const auto scheme = scheme_of(spec);
    const std::vector<double> ones(400, 1.0);
    const std::vector<double> places = target_places(spec.grid.x, n);
    for (std::int64_t k = 1; k <= 20; ++k) {
      const auto found = averaged(*scheme, Direction::average, ones, 1, n * n, {k - 1});
      for (std::int64_t b = k; b < n - k; ++b) {
        for (std::int64_t a = k; a < n - k; ++a)
          ASSERT_NEAR(found[to_size(b * n + a)], 1, tolerance::chebyshev_polynomials)
              << k << " " << a << " " << b;
      }
      if (k % 7 != 0) continue;
      for (std::int64_t a = k; a < n - k; ++a) {
        double sum = 0;
        for (const GyroWeight& weight : chebyshev_row(
                 spec.grid, places[to_size(a)], places[to_size(k)], spec.radii[to_size(k - 1)]))
          sum += weight.weight;
        EXPECT_NEAR(sum, 1, tolerance::chebyshev_polynomials) << k << " " << a;
      }
    }
  }
}

TEST(ChebyshevScheme, IsTheIdentityForRadiusZeroAndZeroBeyondTheDiagonal) {
  for (const GyroSpec& spec : all_kinds({0, 20})) {
    if (spec.targets_x != 0) continue;
    const std::vector<double> f = random_values(spec.grid.n_nodes(), 5);
    const auto scheme = scheme_of(spec);
    const auto same = averaged(*scheme, Direction::average, f, 1, spec.grid.n_nodes(), {0});
    EXPECT_LT(largest_gap(f, same), tolerance::chebyshev_polynomials);
    const auto none = averaged(*scheme, Direction::average, f, 1, spec.grid.n_nodes(), {1});
    EXPECT_EQ(largest(none), 0);
  }
}

TEST(ChebyshevScheme, HasTheSameBitsForAnyNumberOfThreadsAndPlanes) {
  const int before = omp_get_max_threads();
  for (const bool is_square : {true, false}) {
    const GyroSpec spec =
        chebyshev_spec(chebyshev_axis(22), chebyshev_axis(is_square ? 22 : 19), {0.4, 0.8});
    const std::int64_t size = spec.grid.n_nodes();
    constexpr std::int64_t n_planes = 11;
    const std::vector<double> planes = random_values(n_planes * size, 6);
    const auto scheme = scheme_of(spec);
    for (const Direction direction : {Direction::average, Direction::transpose}) {
      const auto expected = averaged(*scheme, direction, planes, n_planes, size, {0, 1});
      for (const int n_threads : {2, 3}) {
        omp_set_num_threads(n_threads);
        const auto other = scheme_of(spec);
        EXPECT_EQ(averaged(*other, direction, planes, n_planes, size, {0, 1}, n_threads), expected);
      }
      omp_set_num_threads(before);
      for (const std::int64_t p : {0, 5, 10}) {
        const std::vector<double> plane(planes.begin() + p * size, planes.begin() + (p + 1) * size);
        const std::vector<double> of_plane(expected.begin() + p * size,
                                           expected.begin() + (p + 1) * size);
        EXPECT_EQ(averaged(*scheme, direction, plane, 1, size, {0, 1}), of_plane);
      }
    }
  }
}

TEST(ChebyshevScheme, SumsWhatIsLoadedOneAfterTheOther) {
  const GyroSpec spec = chebyshev_spec(chebyshev_axis(9), chebyshev_axis(9), {0.4, 0.8, 0.9});
  const auto scheme = scheme_of(spec);
  const std::vector<double> f = random_values(81, 7);
  const std::vector<double> g = random_values(81, 8);
  for (const Direction direction : {Direction::average, Direction::transpose}) {
    const auto work = scheme->make_work(2, 1);
    std::vector<double> out(81, 0.5);
    scheme->clear(*work, direction);
    scheme->load(*work, {f.data(), 1, 81});
    scheme->add(*work, 0, 2);
    scheme->load(*work, {g.data(), 1, 81});
    scheme->add(*work, 2, -1);
    scheme->store(*work, {out.data(), 1, 81}, Accumulate::add);
    const auto of_f = averaged(*scheme, direction, f, 1, 81, {0});
    const auto of_g = averaged(*scheme, direction, g, 1, 81, {2});
    for (std::size_t i = 0; i < 81; ++i)
      EXPECT_NEAR(out[i], 0.5 + 2 * of_f[i] - of_g[i], tolerance::chebyshev_polynomials);
  }
}

TEST(ChebyshevScheme, DropsTheTablesOfOtherRadii) {
  const GyroSpec spec = chebyshev_spec(chebyshev_axis(10), chebyshev_axis(10), {0.4, 0.8, 0.9});
  const auto scheme = scheme_of(spec);
  const std::vector<double> f = random_values(100, 9);
  const auto expected = averaged(*scheme, Direction::average, f, 1, 100, {2});
  scheme->set_radii(0, 1);
  scheme->set_radii(1, 3);
  EXPECT_EQ(averaged(*scheme, Direction::average, f, 1, 100, {2}), expected);
  EXPECT_EQ(scheme->table_bytes(0), 16 * 100 * 8);  // 15 octant targets
}

TEST(ChebyshevScheme, IndicatesTheCoefficientsOfTheHighestDegrees) {
  const std::int64_t n = 20;
  const GyroSpec spec = chebyshev_spec(chebyshev_axis(n), chebyshev_axis(n), {0.4});
  const auto scheme = scheme_of(spec);
  const std::vector<double> nodes = target_places(spec.grid.x, 0);
  const auto work = scheme->make_work(1, 1);
  const auto indicated = [&](int degree) {
    const auto f = on_nodes(nodes, nodes, [&](double x, double y) {
      return 2 * x - std::cos(degree * std::acos(y)) / 8;
    });
    scheme->clear(*work, Direction::average);
    scheme->load(*work, {f.data(), 1, n * n});
    return scheme->indicator(*work);
  };
  EXPECT_NEAR(indicated(18), 1.0 / 16, tolerance::chebyshev_polynomials);
  EXPECT_NEAR(indicated(17), 0, tolerance::chebyshev_polynomials);
}

TEST(ChebyshevScheme, AgreesWithEveryInstructionSet) {
  const GyroSpec spec = chebyshev_spec(chebyshev_axis(11), chebyshev_axis(11), {0.4});
  const std::vector<double> planes = random_values(5 * 121, 10);
  std::array<std::vector<double>, 2> expected;
  for (const Direction direction : {Direction::average, Direction::transpose})
    expected[to_size(static_cast<int>(direction))] =
        averaged(*scheme_of(spec), direction, planes, 5, 121, {0});
  for (std::int64_t runnable = hwy::SupportedTargets(); runnable != 0; runnable &= runnable - 1) {
    const OnlyTarget scope(runnable & -runnable);
    SCOPED_TRACE(hwy::TargetName(runnable & -runnable));
    for (const Direction direction : {Direction::average, Direction::transpose}) {
      const auto found = averaged(*scheme_of(spec), direction, planes, 5, 121, {0});
      EXPECT_LT(largest_gap(found, expected[to_size(static_cast<int>(direction))]),
                tolerance::chebyshev_polynomials);
    }
  }
}

}  // namespace
}  // namespace ringweave
