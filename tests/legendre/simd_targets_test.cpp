// SPDX-License-Identifier: GPL-3.0-or-later
#include "legendre/simd_targets.hpp"

#include <gtest/gtest.h>

#include "legendre/legendre_problem.hpp"
#include "support/only_target.hpp"
#include "support/tolerance.hpp"

namespace ringweave {
namespace {

struct Results {
  std::vector<Complex> modes;
  std::vector<Complex> alm;
};

Results run(const std::vector<int>& spins) {
  const LegendreProblem problem(RingGrid::healpix(200), 1050, 120, spins);
  return {problem.synthesize(random_values(problem.alm_size(), 41)),
          problem.adjoint(random_values(problem.modes_size(), 42))};
}

TEST(SimdTargets, EverySetThisMachineRunsGivesTheSame) {
  for (const std::vector<int>& spins : {std::vector<int>{0, 2}, std::vector<int>{0, 0, 0}}) {
    const Results best = run(spins);
    std::int64_t runnable = hwy::SupportedTargets();
    for (; runnable != 0; runnable &= runnable - 1) {
      const test::OnlyTarget scope(runnable & -runnable);
      if (simd_targets_compiled().find(hwy::TargetName(runnable & -runnable)) ==
          std::string::npos) {
        continue;
      }
      ASSERT_EQ(simd_target_chosen(), hwy::TargetName(runnable & -runnable));
      const Results results = run(spins);
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
}  // namespace ringweave
