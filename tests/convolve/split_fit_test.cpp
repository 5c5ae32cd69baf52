// SPDX-License-Identifier: GPL-3.0-or-later
// Tests the building blocks of the search for split kernels.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include "base/checked_cast.hpp"
#include "convolve/split/aliased_spectrum.hpp"
#include "convolve/split/cap_multipoles.hpp"
#include "convolve/split/triangular_fit.hpp"
#include "ringweave/kernel.hpp"

namespace ringweave::detail {
namespace {

std::vector<double> normal_numbers(std::size_t n, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  std::vector<double> values(n);
  for (double& value : values) value = normal(generator);
  return values;
}

/// |A x - b| of rows [A | b].
double misfit(const std::vector<double>& rows, const std::vector<double>& x) {
  const std::size_t width = x.size() + 1;
  double square = 0;
  for (std::size_t i = 0; i < rows.size() / width; ++i) {
    double rest = -rows[i * width + x.size()];
    for (std::size_t k = 0; k < x.size(); ++k) rest += rows[i * width + k] * x[k];
    square += rest * rest;
  }
  return std::sqrt(square);
}

TEST(TriangularFit, IsTheLeastSquaresFitHoweverItsRowsCome) {
  constexpr std::size_t n = 6;
  constexpr std::size_t n_rows = 25;
  const std::vector<double> rows = normal_numbers(n_rows * (n + 1), 1);
  TriangularFit whole(n);
  std::vector<double> copy = rows;
  whole.add(copy);
  TriangularFit parts(n);
  for (std::size_t first = 0, count = 1; first < n_rows; first += count, ++count) {
    const std::size_t end = std::min(first + count, n_rows);
    std::vector<double> some(rows.begin() + static_cast<std::ptrdiff_t>(first * (n + 1)),
                             rows.begin() + static_cast<std::ptrdiff_t>(end * (n + 1)));
    parts.add(some);
  }
  const std::vector<double> x = whole.solution();
  EXPECT_NEAR(whole.residual(), misfit(rows, x), 1e-13);
  EXPECT_NEAR(parts.residual(), whole.residual(), 1e-13);
  for (std::size_t k = 0; k < n; ++k) {
    EXPECT_NEAR(parts.solution()[k], x[k], 1e-13);
    for (const double step : {-1e-3, 1e-3}) {
      std::vector<double> other = x;
      other[k] += step;
      EXPECT_GT(misfit(rows, other), whole.residual());
    }
  }
}

TEST(RowsOfANormalMatrix, HaveIt) {
  constexpr std::size_t n = 5;
  const std::vector<double> a = normal_numbers(3 * n, 2);  // rank 3
  std::vector<double> matrix(n * n, 0.0);
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t k = 0; k < n; ++k) matrix[j * n + k] += a[i * n + j] * a[i * n + k];
    }
  }
  const std::vector<double> rows = rows_of_normal_matrix(matrix, n, 1e-12);
  EXPECT_EQ(rows.size(), 3 * (n + 1));
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t k = 0; k < n; ++k) {
      double sum = 0;
      for (std::size_t i = 0; i < rows.size() / (n + 1); ++i)
        sum += rows[i * (n + 1) + j] * rows[i * (n + 1) + k];
      EXPECT_NEAR(sum, matrix[j * n + k], 1e-13);
    }
  }
}

/// (P p_k)_l of single polynomials on a cap, [l][k].
std::vector<std::vector<double>> dense_multipoles(double theta_cut, int n, int last, int spin) {
  std::vector<std::vector<double>> rows(to_size(last) + 1, std::vector<double>(to_size(n)));
  for (int k = 0; k < n; ++k) {
    std::vector<double> unit(to_size(n), 0.0);
    unit[to_size(k)] = 1;
    const std::vector<double> k_l = RadialKernel::on_cap(theta_cut, unit, spin).multipoles(last);
    for (std::size_t l = 0; l < rows.size(); ++l) rows[l][to_size(k)] = k_l[l];
  }
  return rows;
}

class CapMultipolesOfSpin : public testing::TestWithParam<int> {
 protected:
  int spin_ = GetParam();
};

TEST_P(CapMultipolesOfSpin, FitAsAllDegreesOneByOneDo) {
  constexpr int last = 500;
  constexpr int n = 30;
  for (const double theta_cut : {0.05, 0.3}) {
    const auto dense = dense_multipoles(theta_cut, n, last, spin_);
    const CapMultipoles multipoles(theta_cut, n, 300, last, spin_);
    const std::vector<double> noise = normal_numbers(2 * (last + 1), 3);
    int expected_first = spin_;
    for (const CapMultipoles::Block& block : multipoles.blocks()) {
      EXPECT_EQ(block.first, expected_first);
      expected_first = block.end();
      std::vector<double> weight;
      std::vector<double> target;
      std::vector<double> rows;  // one per degree
      for (int l = block.first; l < block.end(); ++l) {
        // Some degrees have no weight, the others random ones.
        weight.push_back(l % 7 == 3 ? 0.0 : std::abs(noise[to_size(l)]));
        target.push_back(std::exp(-l / 100.0) + 1e-3 * noise[to_size(last + 1 + l)]);
        for (const double a : dense[to_size(l)]) rows.push_back(weight.back() * a);
        rows.push_back(weight.back() * target.back());
      }
      const std::vector<double> fewer = multipoles.fit_rows(block, weight, target);
      for (const unsigned seed : {4U, 5U}) {
        const std::vector<double> x = normal_numbers(n, seed);
        const double expected = misfit(rows, x);
        EXPECT_NEAR(misfit(fewer, x), expected, 1e-12 * expected) << block.first;
      }
    }
    EXPECT_EQ(expected_first, last + 1);
  }
}

TEST_P(CapMultipolesOfSpin, KnowWhatIsBeyondTheLastDegree) {
  constexpr int n = 12;
  const double theta_cut = 0.3;
  constexpr int last = 40;
  const std::vector<double> matrix = CapMultipoles(theta_cut, n, 30, last, spin_).beyond_last();
  const std::vector<double> x = normal_numbers(n, 6);
  double expected = 0;
  const std::vector<double> k_l = RadialKernel::on_cap(theta_cut, x, spin_).multipoles(6000);
  for (int l = last + 1; l <= 6000; ++l)
    expected += (2.0 * l + 1) * k_l[to_size(l)] * k_l[to_size(l)];
  double found = 0;
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t k = 0; k < n; ++k) found += x[j] * matrix[j * n + k] * x[k];
  }
  EXPECT_NEAR(found / expected, 1, 1e-8);
}

INSTANTIATE_TEST_SUITE_P(Spins, CapMultipolesOfSpin, testing::Values(0, 2, 3));

TEST(AliasedSpectrum, GrowsWithTheDegreesThatMeet) {
  const std::vector<double> white(2 * 64 + 1, 1.0);
  const std::vector<double> aliased = aliased_spectrum(white, 64, 256);
  ASSERT_EQ(aliased.size(), 128U);
  for (std::size_t i = 1; i < aliased.size(); ++i) EXPECT_GE(aliased[i], aliased[i - 1]);
  EXPECT_LT(std::sqrt(aliased.front()), 2e-3);
  EXPECT_GT(std::sqrt(aliased.back()), 0.1);
}

}  // namespace
}  // namespace ringweave::detail
