// SPDX-License-Identifier: GPL-3.0-or-later
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/checked_cast.hpp"
#include "base/memory_meter.hpp"
#include "legendre/legendre_problem.hpp"
#include "ringweave/error.hpp"
#include "ringweave/execution.hpp"

namespace ringweave::detail {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(LegendreShape, WrongSizesAreUsageErrors) {
  const LegendreProblem problem(RingGrid::healpix(4), 8, 8, {0});
  std::vector<Complex> modes(to_size(problem.modes_size()));
  const std::vector<Complex> alm(to_size(problem.alm_size()));
  const AlmView<const double> too_short(alm.data(), 1, ssize64(alm) - 1);
  EXPECT_THAT(
      [&] { problem.stage->synthesize(too_short, LegendreProblem::view(modes)); },
      ThrowsMessage<UsageError>(HasSubstr("44 coefficients of a component; the plan has 45")));
  modes.pop_back();
  EXPECT_THAT([&] { problem.adjoint(modes); }, ThrowsMessage<UsageError>(HasSubstr("ring modes")));
}

TEST(LegendreShape, RowsThatAreNotTheOrdersAreUsageErrors) {
  const LegendreProblem problem(RingGrid::healpix(4), 8, 8, {0});
  const ModeLimits limits(*problem.grid, 8, 8, 0);
  const auto make = [&](const ModeLayout& rows) {
    make_legendre_stage({problem.grid, limits, {}, problem.alm_layout, rows, problem.fields},
                        Backend::host);
  };
  EXPECT_THAT([&] { make(ModeLayout()); },
              ThrowsMessage<UsageError>(HasSubstr("0 mode rows for 9 orders")));
  ModeLayout too_far = problem.rows;
  too_far.set_size(3);
  EXPECT_THAT([&] { make(too_far); },
              ThrowsMessage<UsageError>(HasSubstr("the layout has 3 positions")));
}

TEST(LegendreShape, TheGpuBackendSaysHowToGetItWhereItIsNotThere) {
  const LegendreProblem problem(RingGrid::healpix(4), 8, 8, {0});
  const ModeLimits limits(*problem.grid, 8, 8, 0);
  try {
    make_legendre_stage(
        {problem.grid, limits, {}, problem.alm_layout, problem.rows, problem.fields},
        Backend::cuda);
    GTEST_SKIP() << "there is a CUDA device";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("RINGWEAVE_CUDA"));
  } catch (const ResourceError& error) {
    EXPECT_THAT(error.what(), HasSubstr("host backend"));
  }
}

TEST(LegendreShape, BytesAreWhatTheBuffersHold) {
  const std::int64_t before = MemoryMeter::current_bytes();
  const LegendreProblem problem(RingGrid::healpix(16), 40, 40, {0, 2});
  EXPECT_EQ(problem.stage->bytes(), MemoryMeter::current_bytes() - before);
}

TEST(LegendreShape, NothingIsAllocatedByATransform) {
  const LegendreProblem problem(RingGrid::healpix(16), 40, 40, {0, 2});
  const auto alm = random_values(problem.alm_size(), 1);
  MemoryMeter::reset_high_water();
  const std::int64_t before = MemoryMeter::high_water_bytes();
  problem.synthesize(alm);
  EXPECT_EQ(MemoryMeter::high_water_bytes(), before);
}

TEST(LegendreShape, AnOrderNoRingKeepsHasNoModes) {
  // One ring next to the pole: orders above 100 are kept nowhere.
  const LegendreProblem problem(RingGrid::from_rings({{1e-6, 0, 4, 0}}), 150, 150, {0, 2});
  const auto alm = problem.adjoint(random_values(problem.modes_size(), 2));
  EXPECT_EQ(alm[to_size(problem.alm_layout.index(140, 145))], Complex());
}

}  // namespace
}  // namespace ringweave::detail
