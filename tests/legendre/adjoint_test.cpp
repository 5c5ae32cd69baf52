// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <cmath>

#include "base/checked_cast.hpp"
#include "legendre/legendre_problem.hpp"
#include "support/tolerance.hpp"

namespace ringweave::detail {
namespace {

long double inner_product(const std::vector<Complex>& a, const std::vector<Complex>& b) {
  long double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += static_cast<long double>(a[i].real()) * b[i].real() +
           static_cast<long double>(a[i].imag()) * b[i].imag();
  }
  return sum;
}

double adjoint_gap(const LegendreProblem& problem, unsigned seed) {
  const auto alm = random_values(problem.alm_size(), seed);
  const auto other = random_values(problem.modes_size(), seed + 1);
  const auto modes = problem.synthesize(alm);
  const long double left = inner_product(modes, other);
  const long double right = inner_product(alm, problem.adjoint(other));
  const long double scale = std::sqrt(inner_product(modes, modes) * inner_product(other, other) /
                                      static_cast<long double>(modes.size()));
  return static_cast<double>(std::abs(left - right) / scale);
}

TEST(LegendreAdjoint, IsTheTransposeForEverySpin) {
  for (const int spin : {0, 1, 2, 3, 5}) {
    for (const char* grid : {"healpix:64", "gauss:200", "clenshaw:257"}) {
      const LegendreProblem problem(RingGrid::from_name(grid), 300, 250, {spin});
      EXPECT_LE(adjoint_gap(problem, 11), tolerance::adjoint) << grid << " spin " << spin;
    }
  }
}

TEST(LegendreAdjoint, IsTheTransposeForBatches) {
  for (int count = 2; count <= 9; ++count) {
    const LegendreProblem problem(RingGrid::healpix(64), 150, 150,
                                  std::vector<int>(to_size(count), 0));
    EXPECT_LE(adjoint_gap(problem, 12), tolerance::adjoint) << count;
  }
  const LegendreProblem mixed(RingGrid::healpix(64), 150, 150, {0, 2, 2, 1, 0});
  EXPECT_LE(adjoint_gap(mixed, 13), tolerance::adjoint);
}

TEST(LegendreAdjoint, IsTheTransposeWhereScalesMatter) {
  for (const int spin : {0, 2}) {
    const LegendreProblem problem(RingGrid::healpix(300), 1200, 1200, {spin});
    EXPECT_LE(adjoint_gap(problem, 14), tolerance::adjoint) << spin;
  }
}

TEST(LegendreAdjoint, AddsToWhatIsThereOnRequest) {
  for (const int spin : {0, 2}) {
    const LegendreProblem problem(RingGrid::healpix(8), 20, 20, {spin});
    const auto modes = random_values(problem.modes_size(), 1);
    const auto before = random_values(problem.alm_size(), 2);
    auto alm = before;
    problem.adjoint(modes, alm, Accumulate::add);
    auto expected = problem.adjoint(modes);
    for (std::size_t i = 0; i < alm.size(); ++i) expected[i] += before[i];
    EXPECT_LE(relative_error(alm, expected).max, tolerance::direct_sum);
  }
}

}  // namespace
}  // namespace ringweave::detail
