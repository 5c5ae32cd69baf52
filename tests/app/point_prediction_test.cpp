// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/predict/point_prediction.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <numbers>
#include <string>
#include <vector>

#include "nonuniform/point_problem.hpp"

namespace ringweave::detail::test {
namespace {

constexpr int lmax = 300;

PointSpec spec_of_fields() { return spec_of(lmax, {0, 2}, 1e-6); }

std::int64_t bytes_of_items(const EvenPoints& points, int n_ranks) {
  return MemoryEstimate{points.memory(n_ranks, omp_get_max_threads(), Precision::double_)}.total();
}

TEST(EvenPoints, HaveTheMemoryOfATransformToPointsAllOverTheSphere) {
  const Communicator self = Communicator::self();
  const PointSpec spec = spec_of_fields();
  Directions points;
  constexpr std::int64_t n = 300000;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto place = static_cast<double>(i);
    points.add(std::acos(1 - (2 * place + 1) / n), 2.4 * place);
  }
  PointTransform transform(self, spec, PointSet(self, spec, points.theta, points.phi));
  const EvenPoints even(spec, n, 2);
  EXPECT_EQ(even.report().fine_rows, transform.points().report().fine_rows);
  EXPECT_EQ(even.report().theta_taps, transform.points().report().theta_taps);
  EXPECT_EQ(even.work(1, 1).operations, point_work(transform, 1, 1).operations);
  const double held = static_cast<double>(transform.bytes() + transform.make_alm<double>().bytes() +
                                          transform.make_values<double>().bytes());
  EXPECT_NEAR(static_cast<double>(bytes_of_items(even, 1)) / held, 1, 0.1);
}

TEST(EvenPoints, TakeLessMemoryAndWorkOnMoreRanks) {
  const EvenPoints even(spec_of_fields(), 1000000, 2);
  for (int n_ranks = 1; n_ranks < 64; n_ranks *= 2) {
    EXPECT_LT(bytes_of_items(even, 2 * n_ranks), bytes_of_items(even, n_ranks)) << n_ranks;
    EXPECT_LT(even.work(2 * n_ranks, 1).operations, even.work(n_ranks, 1).operations) << n_ranks;
  }
  EXPECT_EQ(even.work(1, 1).sent_bytes, 0);
  EXPECT_EQ(even.work(2, 1).sent_bytes, 3 * 8 * 250000.0);
  EXPECT_EQ(EvenPoints(spec_of_fields(), 1000000, 3).work(2, 1).sent_bytes, 8 * 250000.0)
      << "a detector has one value";
}

}  // namespace
}  // namespace ringweave::detail::test
