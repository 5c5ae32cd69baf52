// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>
#include <omp.h>

#include "base/checked_cast.hpp"
#include "legendre/legendre_problem.hpp"
#include "ringweave/execution.hpp"
#include "support/tolerance.hpp"

namespace ringweave::detail {
namespace {

class ThreadCount {
 public:
  explicit ThreadCount(int n) : before_(omp_get_max_threads()) { omp_set_num_threads(n); }
  ~ThreadCount() { omp_set_num_threads(before_); }
  ThreadCount(const ThreadCount&) = delete;
  ThreadCount& operator=(const ThreadCount&) = delete;

 private:
  int before_;
};

TEST(LegendreInvariance, ThreadCountsGiveTheSameBits) {
  std::vector<Complex> modes_of_one;
  std::vector<Complex> alm_of_one;
  for (const int threads : {1, 2, 4}) {
    const ThreadCount scope(threads);
    const LegendreProblem problem(RingGrid::healpix(16), 80, 80, {0, 2, 0, 0},
                                  LegendreProblem::Fold::yes);
    const auto modes = problem.synthesize(random_values(problem.alm_size(), 31));
    const auto alm = problem.adjoint(random_values(problem.modes_size(), 32));
    if (threads == 1) {
      modes_of_one = modes;
      alm_of_one = alm;
    }
    EXPECT_EQ(modes, modes_of_one) << threads;
    EXPECT_EQ(alm, alm_of_one) << threads;
  }
}

TEST(LegendreInvariance, MoreThreadsThanPlannedForAreNotUsed) {
  const auto make = [] {
    const ThreadCount scope(1);
    return LegendreProblem(RingGrid::healpix(8), 20, 20, {0});
  };
  const LegendreProblem problem = make();
  const auto alm = random_values(problem.alm_size(), 33);
  const auto expected = problem.synthesize(alm);
  const ThreadCount scope(4);
  EXPECT_EQ(problem.synthesize(alm), expected);
}

TEST(LegendreInvariance, ABatchGivesWhatItsMapsGiveAlone) {
  const LegendreProblem single(RingGrid::healpix(32), 90, 90, {0});
  for (int count = 2; count <= 6; ++count) {
    const LegendreProblem batch(RingGrid::healpix(32), 90, 90, std::vector<int>(to_size(count), 0));
    const auto alm = random_values(batch.alm_size(), 34);
    const auto modes = batch.synthesize(alm);
    const auto back = batch.adjoint(modes);
    for (int c = 0; c < count; ++c) {
      const auto first = alm.begin() + c * single.alm_size();
      std::vector<Complex> one_of_batch;
      for (std::int64_t i = c; i < ssize64(modes); i += count)
        one_of_batch.push_back(modes[to_size(i)]);
      const auto alone = single.synthesize(std::vector<Complex>(first, first + single.alm_size()));
      EXPECT_LE(relative_error(one_of_batch, alone).max, tolerance::rank_invariance);
      const auto back_first = back.begin() + c * single.alm_size();
      EXPECT_LE(
          relative_error({back_first, back_first + single.alm_size()}, single.adjoint(one_of_batch))
              .max,
          tolerance::rank_invariance);
    }
  }
}

TEST(LegendreInvariance, FloatStorageRoundsOnlyWhatIsStored) {
  for (const int spin : {0, 2}) {
    const LegendreProblem problem(RingGrid::healpix(16), 40, 40, {spin});
    std::vector<std::complex<float>> alm;
    for (const Complex& value : random_values(problem.alm_size(), 35)) alm.emplace_back(value);
    const auto modes = problem.synthesize(alm);
    EXPECT_EQ(modes, problem.synthesize(std::vector<Complex>(alm.begin(), alm.end())));

    std::vector<std::complex<float>> back(alm.size());
    problem.adjoint(modes, back, Accumulate::overwrite);
    std::vector<std::complex<float>> expected;
    for (const Complex& value : problem.adjoint(modes)) expected.emplace_back(value);
    EXPECT_EQ(back, expected);
  }
}

TEST(LegendreInvariance, ALayoutOfSomeOrdersGivesTheirRows) {
  const LegendreProblem all(RingGrid::healpix(8), 30, 30, {0});
  const auto alm = random_values(all.alm_size(), 36);
  const auto expected = all.synthesize(alm);

  const AlmLayout some(30, 30, {3, 17});
  const ModeLimits limits(*all.grid, 30, 30, 0);
  ModeLayout rows;
  rows.begin_row(3);
  rows.add_segment(limits.kept(3), 5);
  rows.begin_row(17);
  rows.add_segment(limits.kept(17), 5 + limits.kept(3).size());
  rows.set_size(5 + limits.kept(3).size() + limits.kept(17).size());
  const auto stage =
      make_legendre_stage({all.grid, limits, {}, some, rows, FieldSet({0})}, Backend::host);
  std::vector<Complex> own;
  for (const int m : {3, 17}) {
    for (int l = m; l <= 30; ++l) own.push_back(alm[to_size(all.alm_layout.index(m, l))]);
  }
  std::vector<Complex> modes(to_size(rows.size()), Complex(-1, -1));
  stage->synthesize(AlmView<const double>(own.data(), 1, some.size()),
                    LegendreProblem::view(modes));
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(modes[i], Complex(-1, -1)) << "padding was written";
  std::size_t position = 5;
  for (const int m : {3, 17}) {
    const RowSegment& segment = all.rows.segments(all.rows.rows()[to_size(m)])[0];
    for (std::int64_t i = 0; i < segment.rings.size(); ++i) {
      EXPECT_EQ(modes[position++], expected[to_size(segment.first + i)]);
    }
  }
}

}  // namespace
}  // namespace ringweave::detail
