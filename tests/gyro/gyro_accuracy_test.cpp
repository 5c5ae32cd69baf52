// SPDX-License-Identifier: GPL-3.0-or-later
// The errors of all methods on four functions: largest difference over the largest average.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "gyro/exact_average.hpp"
#include "gyro/gyro_problem.hpp"
#include "ringweave/gyroaverage.hpp"
#include "support/test_size.hpp"
#include "support/tolerance.hpp"

namespace ringweave::detail::test {
namespace {

constexpr std::int64_t n_functions = 4;
constexpr std::int64_t n_sizes = 4;
constexpr std::int64_t n_radii = 3;
const std::vector<double> radii{0.0625, 0.46875, 0.875};

/// Errors that were computed independently: [function][method][16, 32, 64, 128 nodes][radius].
constexpr double known[n_functions][4][n_sizes][n_radii] = {
    {
        // bell
        {{9.64e-2, 7.61e-2, 8.52e-2},
         {2.43e-2, 1.42e-2, 1.94e-2},
         {6.24e-3, 4.03e-3, 4.44e-3},
         {1.58e-3, 9.59e-4, 1.04e-3}},
        {{7.98e-3, 1.23e-2, 1.60e-2},
         {5.20e-4, 1.77e-4, 4.52e-4},
         {1.90e-5, 1.12e-5, 1.43e-5},
         {8.97e-7, 5.11e-7, 6.38e-7}},
        {{3.45e-5, 3.82e-4, 6.01e-4},
         {3.14e-11, 9.60e-11, 1.41e-10},
         {2.85e-11, 6.46e-11, 1.62e-10},
         {2.28e-11, 6.09e-11, 1.43e-10}},
        {{4.69e-2, 5.10e-2, 4.66e-2},
         {7.34e-6, 1.25e-5, 1.47e-5},
         {8e-16, 1e-15, 2e-15},
         {1e-15, 1e-15, 2e-15}},
    },
    {
        // runge
        {{9.76e-2, 3.70e-2, 4.38e-2},
         {2.48e-2, 8.74e-3, 1.38e-2},
         {6.27e-3, 2.60e-3, 3.25e-3},
         {1.57e-3, 6.25e-4, 7.65e-4}},
        {{9.27e-3, 8.08e-3, 1.09e-2},
         {1.40e-3, 3.60e-4, 8.65e-4},
         {4.32e-5, 2.04e-5, 2.71e-5},
         {1.60e-6, 7.55e-7, 1.04e-6}},
        {{4.99e-3, 1.00e-2, 1.02e-2},
         {1.30e-3, 1.09e-3, 3.18e-3},
         {3.43e-4, 5.17e-4, 1.12e-3},
         {1.06e-4, 1.81e-4, 3.95e-4}},
        {{6.60e-2, 2.89e-2, 3.49e-2},
         {6.98e-4, 9.80e-4, 1.23e-3},
         {2.00e-6, 1.16e-6, 1.26e-6},
         {1.7e-12, 2.0e-12, 2.4e-12}},
    },
    {
        // horn
        {{2.25e-2, 5.33e-3, 3.35e-3},
         {1.28e-2, 2.14e-3, 1.58e-3},
         {3.80e-3, 7.34e-4, 4.39e-4},
         {1.44e-3, 2.60e-4, 1.58e-4}},
        {{8.94e-3, 2.10e-3, 1.24e-3},
         {6.27e-3, 9.81e-4, 7.32e-4},
         {1.37e-3, 2.66e-4, 1.56e-4},
         {4.92e-4, 9.15e-5, 5.50e-5}},
        {{6.19e-1, 3.06e-1, 2.39e-1},
         {2.54e-1, 1.87e-1, 1.60e-1},
         {1.92e-1, 1.23e-1, 1.10e-1},
         {1.81e-1, 8.52e-2, 7.65e-2}},
        {{3.39e-2, 4.88e-3, 3.16e-3},
         {9.71e-3, 1.79e-3, 1.25e-3},
         {3.90e-3, 6.52e-4, 3.89e-4},
         {1.23e-3, 2.19e-4, 1.38e-4}},
    },
    {
        // ridge
        {{6.23e-2, 3.46e-2, 4.63e-2},
         {1.56e-2, 1.20e-2, 1.39e-2},
         {3.89e-3, 2.76e-3, 3.68e-3},
         {9.66e-4, 1.17e-3, 1.08e-3}},
        {{2.08e-2, 1.59e-2, 1.40e-2},
         {5.54e-3, 4.34e-3, 5.05e-3},
         {1.91e-3, 1.94e-3, 2.06e-3},
         {5.55e-4, 6.14e-4, 6.94e-4}},
        {{3.23e-2, 2.03e-2, 1.78e-2},
         {6.08e-3, 5.40e-3, 4.81e-3},
         {2.37e-3, 2.26e-3, 2.20e-3},
         {7.96e-4, 5.73e-4, 9.69e-4}},
        {{4.81e-2, 4.78e-2, 4.78e-2},
         {1.90e-2, 1.43e-2, 1.52e-2},
         {4.72e-3, 4.88e-3, 5.36e-3},
         {1.44e-3, 1.72e-3, 1.61e-3}},
    },
};

/// Returns the average over the circle about a node, in long double where f has such values.
double exact_at(const PlaneFunction& f, double x, double y, double rho,
                const std::vector<QuadratureNode>& rule) {
  std::vector<double> breaks;
  f.add_breaks(x, y, rho, breaks);
  if (f.precise_value == nullptr)
    return exact_average({}, x, y, rho, std::move(breaks), rule, f.value);
  return static_cast<double>(exact_average<long double>(
      {}, x, y, rho, std::vector<long double>(breaks.begin(), breaks.end()), rule,
      f.precise_value));
}

std::vector<double> exact_plane(const PlaneGrid& grid, const PlaneFunction& f, double rho) {
  std::vector<double> exact(to_size(grid.n_nodes()));
  const std::vector<QuadratureNode> rule = gauss_legendre_nodes(16);
#pragma omp parallel for schedule(dynamic)
  for (std::int64_t j = 0; j < grid.y.size; ++j) {
    for (std::int64_t i = 0; i < grid.x.size; ++i) {
      exact[to_size(j * grid.x.size + i)] = exact_at(f, grid.x.node(i), grid.y.node(j), rho, rule);
    }
  }
  return exact;
}

/// Averages of all functions, [radius * n_functions + function][node].
std::vector<std::vector<double>> exact_averages(const PlaneGrid& grid) {
  std::vector<std::vector<double>> exact;
  for (const double rho : radii) {
    for (const PlaneFunction& f : plane_functions) exact.push_back(exact_plane(grid, f, rho));
  }
  return exact;
}

std::vector<std::vector<double>> averages_by(const GyroSpec& spec) {
  Gyroaverage gyro(Communicator::self(), spec);
  const PlaneGrid& grid = spec.grid;
  ComponentBuffer<double> fields(n_functions, grid.n_nodes());
  for (std::int64_t f = 0; f < n_functions; ++f) {
    for (std::int64_t i = 0; i < grid.n_nodes(); ++i) {
      fields.view().component(f)[i] = plane_functions[to_size(f)].value(
          grid.x.node(i % grid.x.size), grid.y.node(i / grid.x.size));
    }
  }
  ComponentBuffer<double> results(n_radii * n_functions, grid.n_nodes());
  gyro.each<double>(std::as_const(fields).view(), results.view());
  std::vector<std::vector<double>> planes;
  for (std::int64_t c = 0; c < n_radii * n_functions; ++c) {
    const double* const plane = results.view().component(c).data();
    planes.emplace_back(plane, plane + grid.n_nodes());
  }
  return planes;
}

GyroSpec spec_of(GyroMethod method, std::int64_t n) {
  GyroSpec spec = gyro_spec(method, n, n, radii, n_functions);
  if (method == GyroMethod::dct) spec.padding = n / 2;
  if (method == GyroMethod::chebyshev) spec.targets_x = spec.targets_y = n;
  return spec;
}

void expect_known_error(double error, double expected, GyroMethod method, std::int64_t n,
                        std::int64_t function, std::int64_t radius) {
  const auto [least, most] = tolerance::known_gyroaverage_error(expected);
  EXPECT_TRUE(error >= least && error <= most)
      << plane_functions[to_size(function)].name << ", method " << static_cast<int>(method)
      << ", N = " << n << ", radius " << radii[to_size(radius)] << ": " << error << ", not "
      << expected;
}

void expect_known_errors(GyroMethod method, std::int64_t size,
                         const std::vector<std::vector<double>>& exact) {
  const std::int64_t n = std::int64_t{16} << size;
  const auto found = averages_by(spec_of(method, n));
  for (std::int64_t r = 0; r < n_radii; ++r) {
    for (std::int64_t f = 0; f < n_functions; ++f) {
      const std::size_t plane = to_size(r * n_functions + f);
      expect_known_error(largest_error(found[plane], exact[plane]),
                         known[f][static_cast<int>(method)][size][r], method, n, f, r);
    }
  }
}

constexpr std::int64_t runge = 1;

/// Errors of runge, [radius].
std::vector<double> errors_of_runge(GyroMethod method, std::int64_t n) {
  const GyroSpec spec = spec_of(method, n);
  const PlaneGrid grid = gyro_spec(GyroMethod::bilinear, n, n, radii, 1).grid;
  const auto found = averages_by(spec);
  std::vector<double> errors;
  for (std::int64_t r = 0; r < n_radii; ++r) {
    errors.push_back(largest_error(found[to_size(r * n_functions + runge)],
                                   exact_plane(grid, plane_functions[runge], radii[to_size(r)])));
  }
  return errors;
}

// Operators of method chebyshev with 128 nodes take seconds: a test of their own.
TEST(GyroAccuracy, ErrorsAreThoseOfTheMethods) {
  const int most_of_chebyshev = test_size(64);
  for (std::int64_t size = 0; size < n_sizes; ++size) {
    const std::int64_t n = std::int64_t{16} << size;
    const auto exact = exact_averages(gyro_spec(GyroMethod::bilinear, n, n, radii, 1).grid);
    for (const GyroMethod method : all_gyro_methods) {
      if (method != GyroMethod::chebyshev || n <= most_of_chebyshev)
        expect_known_errors(method, size, exact);
    }
  }
}

TEST(GyroAccuracy, BilinearIsOfOrderTwoAndBicubicOfOrderFour) {
  const double steps = std::log(127.0 / 63);
  for (const auto& [method, order] : {std::pair{GyroMethod::bilinear, tolerance::bilinear_order},
                                      std::pair{GyroMethod::bicubic, tolerance::bicubic_order}}) {
    const std::vector<double> coarse = errors_of_runge(method, 64);
    const std::vector<double> fine = errors_of_runge(method, 128);
    for (std::size_t r = 0; r < coarse.size(); ++r) {
      const double slope = std::log(coarse[r] / fine[r]) / steps;
      EXPECT_GE(slope, order.first) << "radius " << radii[r];
      EXPECT_LE(slope, order.second) << "radius " << radii[r];
    }
  }
}

TEST(GyroAccuracy, ErrorsOfRungeOnOtherGridsAreThoseOfTheMethods) {
  if (test_size(64) < 128) GTEST_SKIP() << "takes long: set RINGWEAVE_TEST_SIZE to 128";
  struct Known {
    GyroMethod method;
    std::int64_t n;
    std::vector<double> errors;
  };
  for (const auto& [method, n, errors] :
       {Known{GyroMethod::chebyshev, 80, {3.11e-8, 4.15e-8, 4.62e-8}},
        Known{GyroMethod::chebyshev, 100, {9.26e-10, 5.88e-10, 6.45e-10}},
        Known{GyroMethod::chebyshev, 116, {3.3e-11, 2.1e-11, 2.3e-11}},
        Known{GyroMethod::bicubic, 256, {7.94e-8, 3.64e-8, 4.97e-8}}}) {
    const std::vector<double> found = errors_of_runge(method, n);
    for (std::int64_t r = 0; r < n_radii; ++r)
      expect_known_error(found[to_size(r)], errors[to_size(r)], method, n, runge, r);
  }
}

}  // namespace
}  // namespace ringweave::detail::test
