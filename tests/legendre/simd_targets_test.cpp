// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "legendre/legendre_problem.hpp"
#include "legendre/legendre_stage.hpp"
#include "support/only_target.hpp"
#include "support/tolerance.hpp"

namespace ringweave::detail {
namespace {

struct Results {
  std::vector<Complex> modes;
  std::vector<Complex> alm;
};

struct Shape {
  int nside;
  int lmax;
  int mmax;
  std::vector<int> spins;
};

Results run(const Shape& shape) {
  const LegendreProblem problem(RingGrid::healpix(shape.nside), shape.lmax, shape.mmax,
                                shape.spins);
  return {problem.synthesize(random_values(problem.alm_size(), 41)),
          problem.adjoint(random_values(problem.modes_size(), 42))};
}

void expect_the_same_of_every_set(const std::vector<Shape>& shapes) {
  for (const Shape& shape : shapes) {
    const Results best = run(shape);
    const std::string name_of_best = simd_target_chosen();
    std::int64_t runnable = hwy::SupportedTargets();
    for (; runnable != 0; runnable &= runnable - 1) {
      const std::string name = hwy::TargetName(runnable & -runnable);
      if (name == name_of_best || simd_targets_compiled().find(name) == std::string::npos) continue;
      const test::OnlyTarget scope(runnable & -runnable);
      ASSERT_EQ(simd_target_chosen(), name);
      const Results results = run(shape);
      EXPECT_LE(relative_error(results.modes, best.modes).rms, tolerance::round_trip)
          << simd_target_chosen();
      EXPECT_LE(relative_error(results.alm, best.alm).rms, tolerance::round_trip)
          << simd_target_chosen();
    }
  }
}

// The last three shapes are resampled in theta: with lanes in pieces, and contiguous.

TEST(SimdTargets, EverySetThisMachineRunsGivesTheSame) {
  expect_the_same_of_every_set({{20, 60, 60, {0, 2}},
                                {20, 60, 12, {0, 0, 0}},
                                {32, 64, 9, {0, 2}},
                                {32, 64, 9, {0, 0, 0}},
                                {32, 64, 5, std::vector<int>(8, 0)}});
}

TEST(SimdTargets, EverySetThisMachineRunsGivesTheSameAtHighDegrees) {
  expect_the_same_of_every_set({{200, 1050, 120, {0, 2}},
                                {200, 1050, 120, {0, 0, 0}},
                                {350, 700, 20, {0, 2}},
                                {350, 700, 20, {0, 0, 0}},
                                {350, 700, 5, std::vector<int>(8, 0)}});
}

TEST(SimdTargets, TheChosenOneIsAmongTheCompiledOnes) {
  EXPECT_NE(simd_targets_compiled().find(simd_target_chosen()), std::string::npos);
}

}  // namespace
}  // namespace ringweave::detail
