// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include "legendre/legendre_problem.hpp"
#include "ringweave/execution.hpp"
#include "support/tolerance.hpp"

namespace ringweave::detail {
namespace {

/// Modes and a_lm of a problem by one route, from the same inputs for each.
struct Answer {
  std::vector<Complex> modes;
  std::vector<Complex> alm;
  Answer(LegendreProblem& problem, ThetaRoute route) {
    const ModeLimits limits(*problem.grid, problem.alm_layout.lmax(), problem.alm_layout.mmax(),
                            problem.fields.max_spin());
    problem.stage = make_legendre_stage({problem.grid, limits, problem.fold_rule,
                                         problem.alm_layout, problem.rows, problem.fields, route},
                                        Backend::host);
    modes = problem.synthesize(random_values(problem.alm_size(), 1));
    alm = problem.adjoint(random_values(problem.modes_size(), 2));
  }
};

void expect_the_same(LegendreProblem problem) {
  const Answer direct(problem, ThetaRoute::direct);
  const Answer resampled(problem, ThetaRoute::resampled);
  EXPECT_LE(relative_error(resampled.modes, direct.modes).rms, tolerance::direct_sum);
  EXPECT_LE(relative_error(resampled.alm, direct.alm).rms, tolerance::direct_sum);
}

TEST(ThetaRoute, ResampledModesAreTheDirectOnes) {
  for (const std::vector<int>& spins : {std::vector<int>{0}, {2}, {0, 2}, {1, 3, 0, 0, 0}}) {
    expect_the_same({RingGrid::healpix(64), 128, 128, spins});
  }
}

TEST(ThetaRoute, ResampledModesAreTheDirectOnesAtDegree1024) {
  for (const int spin : {0, 2}) expect_the_same({RingGrid::healpix(512), 1024, 1024, {spin}});
}

TEST(ThetaRoute, ResampledModesAreTheDirectOnesAtDegree2048) {
  expect_the_same({RingGrid::healpix(1024), 2048, 2048, {0}});
}

TEST(ThetaRoute, ResampledModesFoldAlike) {
  expect_the_same({RingGrid::healpix(32), 95, 95, {0, 2}, LegendreProblem::Fold::yes});
}

TEST(ThetaRoute, FewOrdersLeaveSlotsOfABlockEmpty) {
  expect_the_same({RingGrid::healpix(32), 64, 2, {0}});
  expect_the_same({RingGrid::gauss_legendre(40, 81), 39, 12, {2}});
}

TEST(ThetaRoute, AStageWithOtherRowsSharesTheAnswer) {
  LegendreProblem problem(RingGrid::healpix(16), 32, 32, {0, 2});
  const auto alm = random_values(problem.alm_size(), 3);
  const auto modes = problem.synthesize(alm);
  problem.stage = problem.stage->with_rows(problem.rows);
  EXPECT_EQ(problem.synthesize(alm), modes);
}

}  // namespace
}  // namespace ringweave::detail
