// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/checked_cast.hpp"
#include "legendre/cuda/emulated_stage.hpp"
#include "support/tolerance.hpp"

// The launches of the device stage, block by block on the host, against the host stage.
namespace ringweave::detail {
namespace {

void expect_emulation_equal(const LegendreProblem& problem, EmulatedStage& emulated,
                            const std::string& what) {
  const auto alm = random_values(problem.alm_size(), 21);
  const RelativeError forward = relative_error(emulated.synthesize(alm), problem.synthesize(alm));
  EXPECT_LE(forward.rms, tolerance::direct_sum) << what;
  EXPECT_LE(forward.max, tolerance::direct_sum * tolerance::max_over_rms) << what << " forward";
  const auto modes = random_values(problem.modes_size(), 22);
  const RelativeError back = relative_error(emulated.adjoint(modes), problem.adjoint(modes));
  EXPECT_LE(back.rms, tolerance::direct_sum) << what;
  EXPECT_LE(back.max, tolerance::direct_sum * tolerance::max_over_rms) << what << " back";
}

void expect_emulation_equal(const LegendreProblem& problem, const std::string& what) {
  EmulatedStage by_threads(problem, {}, BatchedSums::by_threads);
  expect_emulation_equal(problem, by_threads, what);
  EmulatedStage by_matrices(problem, {}, BatchedSums::by_matrices);
  expect_emulation_equal(problem, by_matrices, what + " by matrices");
}

struct Case {
  int lmax;
  int mmax;
  std::vector<int> spins;
};

class EmulatedLaunches : public testing::TestWithParam<Case> {};

TEST_P(EmulatedLaunches, AreTheHostStageOnEveryGrid) {
  const auto& [lmax, mmax, spins] = GetParam();
  for (const char* grid :
       {"healpix:3", "healpix:40", "gauss:41", "clenshaw:14", "clenshaw:65", "fejer:6"}) {
    const LegendreProblem problem(RingGrid::from_name(grid), lmax, mmax, spins);
    expect_emulation_equal(problem, grid);
  }
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const int lmax : {0, 1, 2, 5, 32, 63, 127}) all.push_back({lmax, lmax, {0}});
  for (const int n : {2, 3, 4, 5, 8}) all.push_back({33, 33, std::vector<int>(to_size(n), 0)});
  for (const int spin : {1, 2, 3, 5}) {
    for (const int lmax : {0, 1, 2, 40}) all.push_back({lmax, lmax, {spin}});
  }
  for (const int spin : {1, 2, 3}) all.push_back({110, 110, {spin}});
  all.push_back({110, 110, {0, 2}});
  all.push_back({101, 30, {0, 2, 0, 1, 0, 0, 0, 2}});
  all.push_back({60, 7, {0}});
  all.push_back({61, 12, {0, 2}});
  all.push_back({20, 20, {0, 2, 0, 1, 0, 0, 0, 2}});
  return all;
}
INSTANTIATE_TEST_SUITE_P(Legendre, EmulatedLaunches, testing::ValuesIn(cases()),
                         [](const auto& of) {
                           std::string name =
                               fmt::format("lmax{}mmax{}spins", of.param.lmax, of.param.mmax);
                           for (const int spin : of.param.spins) name += std::to_string(spin);
                           return name;
                         });

void expect_rms(const LegendreProblem& problem, double bound,
                BatchedSums sums = BatchedSums::by_threads) {
  EmulatedStage emulated(problem, {}, sums);
  const auto alm = random_values(problem.alm_size(), 23);
  EXPECT_LE(relative_error(emulated.synthesize(alm), problem.synthesize(alm)).rms, bound);
  const auto modes = random_values(problem.modes_size(), 24);
  EXPECT_LE(relative_error(emulated.adjoint(modes), problem.adjoint(modes)).rms, bound);
}

/// Returns orders up to the highest, the closer together the lower they are: all would take minutes
/// where degrees are high.
std::vector<int> some_orders(int highest) {
  std::vector<int> orders{0};
  while (orders.back() < highest)
    orders.push_back(std::min(highest, orders.back() + 1 + orders.back() / 8));
  return orders;
}

TEST(EmulatedLaunch, RunsWhereScalesMatter) {
  const auto problem = [](const std::vector<int>& spins) {
    return LegendreProblem(RingGrid::healpix(300), 900, 900, spins, LegendreProblem::Fold::no,
                           some_orders(900));
  };
  expect_rms(problem({0}), tolerance::direct_sum);
  expect_rms(problem({0, 0}), tolerance::direct_sum, BatchedSums::by_matrices);
}

RingGrid rings_from_pole_to_equator() {
  return RingGrid::from_rings({{0.3, 0, 8, 0},
                               {0.8, 0, 8, 0},
                               {1.3, 0, 8, 0},
                               {1.5705, 0, 8, 0},
                               {1.5707, 0, 8, 0},
                               {M_PI - 0.8, 0, 8, 0},
                               {2.5, 0, 8, 0}});
}

TEST(EmulatedLaunch, RunsAtHighDegrees) {
  const auto problem = [](const std::vector<int>& spins) {
    return LegendreProblem(rings_from_pole_to_equator(), 2047, 2047, spins,
                           LegendreProblem::Fold::no, some_orders(2047));
  };
  expect_rms(problem({0, 2}), 1e-12);
  expect_rms(problem({0, 0, 2}), 1e-12, BatchedSums::by_matrices);
}

TEST(EmulatedLaunch, RunsAtTheHighestDegrees) {
  const int lmax = 32768;
  const std::vector<int> orders{0, 1, 2, 31, 32, 33, 500, 4000, 10000, 16384, 30000, 32767, 32768};
  const auto problem = [&](const std::vector<int>& spins) {
    return LegendreProblem(rings_from_pole_to_equator(), lmax, lmax, spins,
                           LegendreProblem::Fold::no, orders);
  };
  // Rounding errors grow along the recurrence, in either stage.
  const double bound = 2 * lmax * std::numeric_limits<double>::epsilon();
  expect_rms(problem({0, 2}), bound);
  expect_rms(problem({0, 0, 2}), bound, BatchedSums::by_matrices);
}

// Next to a pole rounding errors grow along the recurrence, in either stage: l^1.5 ulp
// (reference_test.cpp).
TEST(EmulatedLaunch, RunsNextToThePoles) {
  const int lmax = 2047;
  const double bound = 2 * std::pow(lmax, 1.5) * std::numeric_limits<double>::epsilon();
  for (const std::vector<int>& spins :
       {std::vector<int>{0}, std::vector<int>{2}, std::vector<int>{0, 0}}) {
    expect_rms(
        LegendreProblem(
            RingGrid::from_rings({{0, 0, 8, 0}, {1e-4, 0, 8, 0}, {0.01, 0, 8, 0}, {3.1, 0, 8, 0}}),
            lmax, lmax, spins, LegendreProblem::Fold::no, some_orders(lmax)),
        bound, BatchedSums::by_matrices);
  }
}

}  // namespace
}  // namespace ringweave::detail
