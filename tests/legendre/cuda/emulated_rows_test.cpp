// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>

#include "base/checked_cast.hpp"
#include "legendre/cuda/emulated_stage.hpp"
#include "ringweave/execution.hpp"
#include "support/tolerance.hpp"

// Rows, batches of rows and aliases of the device stage, emulated on the host.
namespace ringweave::detail {
namespace {

using Fold = LegendreProblem::Fold;

TEST(EmulatedRows, BatchesOfRowsChangeNothing) {
  for (const Fold fold : {Fold::no, Fold::yes}) {
    const LegendreProblem problem(RingGrid::healpix(10), 104, 30, {0, 2, 0}, fold);
    EmulatedStage whole(problem);
    EmulatedStage row_by_row(problem, {.workspace_bytes = 1});
    EmulatedStage in_some(problem, {.workspace_bytes = 300000});
    const auto alm = random_values(problem.alm_size(), 31);
    const auto modes = random_values(problem.modes_size(), 32);
    EXPECT_EQ(row_by_row.synthesize(alm), whole.synthesize(alm));
    EXPECT_EQ(in_some.synthesize(alm), whole.synthesize(alm));
    EXPECT_EQ(row_by_row.adjoint(modes), whole.adjoint(modes));
    EXPECT_EQ(in_some.adjoint(modes), whole.adjoint(modes));
  }
}

// Emulated threads and blocks run in an order that changes from launch to launch.
TEST(EmulatedRows, TheOrderOfThreadsChangesNothing) {
  const LegendreProblem problem(RingGrid::healpix(64), 40, 40, {0, 0, 1});
  EmulatedStage emulated(problem);
  const auto modes = random_values(problem.modes_size(), 33);
  const auto first = emulated.adjoint(modes);
  EXPECT_EQ(emulated.adjoint(modes), first);
}

TEST(EmulatedRows, AliasesAreAddedAsOnTheHost) {
  // One, two and more aliases of an order; mirrored and not; of order 0.
  for (const int mmax : {9, 15, 16, 17, 33, 60}) {
    const LegendreProblem problem(RingGrid::healpix(4), 60, mmax, {0, 1}, Fold::yes);
    EmulatedStage emulated(problem);
    const auto alm = random_values(problem.alm_size(), 34);
    EXPECT_LE(relative_error(emulated.synthesize(alm), problem.synthesize(alm)).max,
              tolerance::direct_sum * tolerance::max_over_rms)
        << mmax;
    const auto modes = random_values(problem.modes_size(), 35);
    EXPECT_LE(relative_error(emulated.adjoint(modes), problem.adjoint(modes)).max,
              tolerance::direct_sum * tolerance::max_over_rms)
        << mmax;
  }
}

TEST(EmulatedRows, SomeRowsAloneAreThoseOfTheWhole) {
  const LegendreProblem problem(RingGrid::healpix(4), 104, 30, {0, 2}, Fold::yes);
  EmulatedStage emulated(problem);
  const auto alm = random_values(problem.alm_size(), 36);
  const auto modes = random_values(problem.modes_size(), 37);
  const std::vector<Complex> untouched(to_size(problem.modes_size()), Complex(7, 7));
  std::vector<Complex> in_parts = untouched;
  std::vector<Complex> back(to_size(problem.alm_size()));
  for (const auto& [begin, end] : {std::pair{0, 3}, std::pair{3, 9}, std::pair{9, 31}}) {
    emulated.synthesize(alm, in_parts, {begin, end});
    emulated.adjoint(modes, back, Accumulate::overwrite, {begin, end});
  }
  EXPECT_EQ(in_parts, emulated.synthesize(alm));
  EXPECT_EQ(back, emulated.adjoint(modes));

  std::vector<Complex> none = untouched;
  emulated.synthesize(alm, none, {5, 5});
  EXPECT_EQ(none, untouched);
}

TEST(EmulatedRows, ModesOfSegmentsApartLieWhereTheLayoutSays) {
  LegendreProblem problem(RingGrid::healpix(4), 12, 12, {0});
  const ModeLimits limits(*problem.grid, 12, 12, 0);
  ModeLayout rows;
  std::int64_t position = 5;
  for (int m = 0; m <= 12; ++m) {
    rows.begin_row(m);
    const RingRange kept = limits.kept(m);
    const std::int64_t third = kept.begin + kept.size() / 3;
    for (const RingRange& part : {RingRange{kept.begin, kept.begin}, RingRange{kept.begin, third},
                                  RingRange{third, third + 1}, RingRange{third + 1, kept.end}}) {
      rows.add_segment(part, position);
      position += part.size() + 2;
    }
  }
  rows.set_size(position);
  problem.rows = rows;
  problem.stage = make_legendre_stage(shape_of(problem), Backend::host);
  EmulatedStage emulated(problem);
  const auto alm = random_values(problem.alm_size(), 38);
  EXPECT_LE(relative_error(emulated.synthesize(alm), problem.synthesize(alm)).max,
            tolerance::direct_sum * tolerance::max_over_rms);
  const auto modes = random_values(problem.modes_size(), 39);
  EXPECT_LE(relative_error(emulated.adjoint(modes), problem.adjoint(modes)).max,
            tolerance::direct_sum * tolerance::max_over_rms);
}

TEST(EmulatedRows, FloatCoefficientsAreRoundedOnce) {
  const LegendreProblem problem(RingGrid::gauss_legendre(33), 32, 32, {0, 2});
  EmulatedStage emulated(problem);
  const auto wide = random_values(problem.alm_size(), 40);
  std::vector<std::complex<float>> alm(wide.begin(), wide.end());
  const std::vector<Complex> widened(alm.begin(), alm.end());
  EXPECT_EQ(emulated.synthesize(alm), emulated.synthesize(widened));

  const auto modes = random_values(problem.modes_size(), 41);
  std::vector<std::complex<float>> back(alm.size());
  emulated.adjoint(modes, back, Accumulate::overwrite, emulated.all());
  const auto expected = emulated.adjoint(modes);
  for (std::size_t i = 0; i < back.size(); ++i) {
    EXPECT_EQ(back[i], std::complex<float>(expected[i])) << i;
  }
}

TEST(EmulatedRows, AnAdjointAddsOnRequest) {
  const LegendreProblem problem(RingGrid::healpix(8), 20, 20, {0, 2});
  EmulatedStage emulated(problem);
  const auto modes = random_values(problem.modes_size(), 42);
  const auto before = random_values(problem.alm_size(), 43);
  auto alm = before;
  emulated.adjoint(modes, alm, Accumulate::add, emulated.all());
  auto expected = problem.adjoint(modes);
  for (std::size_t i = 0; i < alm.size(); ++i) expected[i] += before[i];
  EXPECT_LE(relative_error(alm, expected).max, tolerance::direct_sum * tolerance::max_over_rms);
}

void expect_both_ways(const LegendreProblem& problem, double bound) {
  EmulatedStage emulated(problem);
  const auto alm = random_values(problem.alm_size(), 44);
  EXPECT_LE(relative_error(emulated.synthesize(alm), problem.synthesize(alm)).rms, bound);
  const auto modes = random_values(problem.modes_size(), 45);
  EXPECT_LE(relative_error(emulated.adjoint(modes), problem.adjoint(modes)).rms, bound);
}

TEST(EmulatedRows, RingsWithoutAMirror) {
  expect_both_ways(
      LegendreProblem(
          RingGrid::from_rings(
              {{0.3, 0, 8, 0}, {1.1, 0, 8, 0}, {1.9, 0.1, 8, 0}, {2.2, 0, 8, 0}, {3.0, 0, 8, 0}}),
          150, 40, {0, 2}),
      tolerance::direct_sum);
}

// Next to a pole either stage errs by l^1.5 ulp (reference_test.cpp).
TEST(EmulatedRows, OrdersNoRingKeepsHaveNoModes) {
  const int lmax = 150;
  const LegendreProblem problem(RingGrid::from_rings({{1e-6, 0, 4, 0}}), lmax, lmax, {0, 2});
  expect_both_ways(problem, 2 * std::pow(lmax, 1.5) * std::numeric_limits<double>::epsilon());
  EmulatedStage emulated(problem);
  const auto alm = emulated.adjoint(random_values(problem.modes_size(), 46));
  EXPECT_EQ(alm[to_size(problem.alm_layout.index(140, 145))], Complex());
}

}  // namespace
}  // namespace ringweave::detail
