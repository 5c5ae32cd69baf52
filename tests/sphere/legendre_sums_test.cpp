// SPDX-License-Identifier: GPL-3.0-or-later
#include "sphere/kernel/legendre_sums.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

#include "kernel_reference.hpp"
#include "support/tolerance.hpp"

namespace ringweave::detail {
namespace {

std::vector<double> random_values(std::size_t n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> values(n);
  for (double& value : values) value = normal(random);
  return values;
}

std::vector<double> chords_squared(int n) {
  std::vector<double> result;
  for (const double theta : random_angles(std::numbers::pi / 2, n)) {
    const double chord = 2 * std::sin(theta / 2);
    result.push_back(std::min(chord * chord, 2.0));
  }
  return result;
}

/// Errors are relative to sum_l |c_l| and to the sum at mirrored points.
TEST(LegendreSums, SeriesAreTheirSumsInHigherPrecision) {
  for (const std::size_t n_degrees : {1U, 2U, 127U, 128U, 129U, 3000U, 20000U}) {
    const std::vector<double> coefficient = random_values(n_degrees, n_degrees);
    const std::vector<double> at = chords_squared(37);
    const LegendreSeriesValues values = sum_legendre_series(coefficient, at);
    double bound = 0;
    for (const double c : coefficient) bound += std::abs(c);
    for (std::size_t i = 0; i < at.size(); ++i) {
      long double p = 1;
      long double difference = 0;
      long double near = 0;
      long double far = 0;
      for (std::size_t k = 0; k < n_degrees; ++k) {
        const long double l = static_cast<long double>(k);
        const long double term = static_cast<long double>(coefficient[k]) * p;
        near += term;
        far += k % 2 == 0 ? term : -term;
        difference =
            (l * difference - (2 * l + 1) * static_cast<long double>(at[i]) / 2 * p) / (l + 1);
        p += difference;
      }
      EXPECT_NEAR(values.near[i], static_cast<double>(near), tolerance::direct_sum * bound);
      EXPECT_NEAR(values.far[i], static_cast<double>(far), tolerance::direct_sum * bound);
    }
  }
}

TEST(LegendreSums, ProjectionIsTheTransposeOfTheSeries) {
  for (const std::size_t n_points : {1U, 31U, 32U, 33U, 700U}) {
    const std::vector<double> at = chords_squared(static_cast<int>(n_points));
    const std::vector<double> value = random_values(at.size(), 1);
    const std::vector<double> coefficient = random_values(400, 2);
    const std::vector<double> projected = project_on_legendre(at, value, 399);
    const std::vector<double> series = sum_legendre_series(coefficient, at).near;
    double left = 0;
    double right = 0;
    double norm = 0;
    for (std::size_t l = 0; l < coefficient.size(); ++l) left += projected[l] * coefficient[l];
    for (std::size_t i = 0; i < at.size(); ++i) {
      right += value[i] * series[i];
      norm += std::abs(value[i] * series[i]);
    }
    EXPECT_NEAR(left, right, tolerance::adjoint * norm) << n_points;
  }
}

TEST(LegendreSums, ResultsDoNotDependOnTheNumberOfThreads) {
  const std::vector<double> at = chords_squared(1500);
  const std::vector<double> coefficient = random_values(500, 5);
  const std::vector<double> value = random_values(at.size(), 6);
  const int threads = omp_get_max_threads();
  omp_set_num_threads(1);
  const LegendreSeriesValues one = sum_legendre_series(coefficient, at);
  const std::vector<double> projected = project_on_legendre(at, value, 300);
  for (const int n : {2, 3, 7}) {
    omp_set_num_threads(n);
    const LegendreSeriesValues many = sum_legendre_series(coefficient, at);
    EXPECT_EQ(one.near, many.near);
    EXPECT_EQ(one.far, many.far);
    EXPECT_EQ(projected, project_on_legendre(at, value, 300));
  }
  omp_set_num_threads(threads);
}

}  // namespace
}  // namespace ringweave::detail
