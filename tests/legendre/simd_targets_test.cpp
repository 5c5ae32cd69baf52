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

TEST(SimdTargets, EverySetThisMachineRunsGivesTheSame) {
  const std::vector<int> three(3, 0);
  const std::vector<int> eight(8, 0);
  // The last three are resampled in theta: with lanes in pieces, and contiguous.
  for (const Shape& shape :
       {Shape{200, 1050, 120, {0, 2}}, Shape{200, 1050, 120, three}, Shape{350, 700, 20, {0, 2}},
        Shape{350, 700, 20, three}, Shape{350, 700, 5, eight}}) {
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

TEST(SimdTargets, TheChosenOneIsAmongTheCompiledOnes) {
  EXPECT_NE(simd_targets_compiled().find(simd_target_chosen()), std::string::npos);
}

}  // namespace
}  // namespace ringweave::detail
