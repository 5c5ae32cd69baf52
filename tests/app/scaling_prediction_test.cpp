// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/predict/scaling_prediction.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ringweave/execution.hpp"
#include "ringweave/transform.hpp"
#include "transform/transform_cases.hpp"
#include "transform/transform_scaling.hpp"

namespace ringweave::detail::test {
namespace {

TransformSpec healpix(std::int64_t nside, int lmax, const std::vector<int>& spins = {0}) {
  return Case{share(RingGrid::healpix(nside)), lmax, lmax, spins}.spec();
}

/// The same sums over the plans of all ranks.
struct Planned {
  std::int64_t most_sent = 0;
  std::int64_t most_bytes = 0;
  std::int64_t all_bytes = 0;
  std::int64_t most_pixels = 0;
  double most_flops = 0;
  double all_flops = 0;
  MessageSizes messages;
};

MessageSizes messages_of(const TransformPlan& plan) {
  const std::int64_t bytes_of_mode = 16 * plan.spec.fields.n_components();
  MessageSizes sizes;
  const OrderPasses passes = plan.order_passes(1);
  for (int peer = 0; peer < plan.n_ranks; ++peer) {
    const std::int64_t modes =
        passes.passes.front().by_order_blocks[static_cast<std::size_t>(peer)].count;
    if (peer == plan.rank || modes == 0) continue;
    ++sizes.count;
    sizes.largest_bytes = std::max(sizes.largest_bytes, modes * bytes_of_mode);
  }
  if (sizes.count > 0)
    sizes.mean_bytes = static_cast<double>(plan.bytes_sent()) / static_cast<double>(sizes.count);
  return sizes;
}

Planned sum_of_plans(const TransformSpec& spec, int n_ranks) {
  Planned sum;
  for (int rank = 0; rank < n_ranks; ++rank) {
    const TransformPlan plan(spec, rank, n_ranks);
    const std::int64_t n = spec.fields.n_components();
    const std::int64_t map = 8 * n * plan.rings.n_pixels();
    const std::int64_t sent = plan.sent_mode_bytes();
    const std::int64_t bytes =
        16 * n * plan.alm.size() + map + (sent > map ? sent : 0) + plan.by_ring_bytes();
    if (plan.bytes_sent() > sum.most_sent) sum.messages = messages_of(plan);
    sum.most_sent = std::max(sum.most_sent, plan.bytes_sent());
    sum.most_bytes = std::max(sum.most_bytes, bytes);
    sum.all_bytes += bytes;
    sum.most_pixels = std::max(sum.most_pixels, map);
    sum.most_flops = std::max(sum.most_flops, plan.legendre_flops().total());
    sum.all_flops += plan.legendre_flops().total();
  }
  return sum;
}

TEST(TransformScaling, IsTheSumOfThePlansOfAllRanks) {
  for (const int lmax : {16, 23, 7}) {
    for (const std::vector<int>& spins : {std::vector<int>{0}, {2}, {0, 2}}) {
      const TransformSpec spec = healpix(8, lmax, spins);
      const TransformScaling scaling(spec);
      for (const int n_ranks : {1, 2, 3, 5, 8, 16, 33, 64}) {
        SCOPED_TRACE(testing::Message() << "lmax " << lmax << ", ranks " << n_ranks);
        const Planned planned = sum_of_plans(spec, n_ranks);
        const TransformShares shares = scaling.shares(n_ranks);
        EXPECT_EQ(shares.largest.sent_bytes, planned.most_sent);
        EXPECT_EQ(shares.largest_bytes, planned.most_bytes);
        EXPECT_DOUBLE_EQ(shares.mean_bytes * n_ranks, static_cast<double>(planned.all_bytes));
        EXPECT_EQ(shares.largest.fft_pixel_bytes, planned.most_pixels);
        EXPECT_NEAR(shares.largest.scalar_flops + shares.largest.spin_flops, planned.most_flops,
                    1e-9 * planned.most_flops);
        EXPECT_NEAR(shares.mean_flops * n_ranks, planned.all_flops, 1e-9 * planned.all_flops);
        EXPECT_EQ(shares.messages.count, planned.messages.count);
        EXPECT_EQ(shares.messages.largest_bytes, planned.messages.largest_bytes);
        EXPECT_NEAR(shares.messages.mean_bytes, planned.messages.mean_bytes, 1e-6);
        EXPECT_GE(shares.work_imbalance(), 1 - 1e-12);
        EXPECT_GE(shares.memory_imbalance(), 1);
      }
    }
  }
}

TEST(TransformScaling, CountsRanksWithoutWork) {
  const TransformShares shares = TransformScaling(healpix(2, 4)).shares(64);
  EXPECT_EQ(shares.n_ranks_with_orders, 5);
  EXPECT_EQ(shares.n_ranks_with_rings, 4) << "7 rings are 4 pairs";
  EXPECT_GT(shares.work_imbalance(), 64.0 / 5);
}

TEST(TransformScaling, SendsHalfInSinglePrecision) {
  TransformSpec spec = healpix(8, 16);
  const TransformShares whole = TransformScaling(spec).shares(3);
  spec.exchange.precision = ModePrecision::single_;
  const TransformShares halved = TransformScaling(spec).shares(3);
  EXPECT_EQ(2 * halved.largest.sent_bytes, whole.largest.sent_bytes);
  EXPECT_EQ(2 * halved.messages.largest_bytes, whole.messages.largest_bytes);
  EXPECT_EQ(halved.largest.sent_bytes, sum_of_plans(spec, 3).most_sent);
}

TEST(ScalingPrediction, EveryWayToExchangeSendsNoMoreThanTheOneBefore) {
  for (const int lmax : {128, 191}) {
    ScalingPredictor predictor(healpix(64, lmax), typical_machine(), {});
    EXPECT_TRUE(predictor.at(1).ways.empty());
    for (const int n_ranks : {2, 8, 64, 1024}) {
      const std::vector<ExchangeVariant>& ways = predictor.at(n_ranks).ways;
      ASSERT_EQ(ways.size(), 5u);
      EXPECT_GT(ways[0].sent_bytes, ways[1].sent_bytes);
      // Orders fold only above 2 nside.
      EXPECT_EQ(ways[1].sent_bytes > ways[2].sent_bytes, lmax == 191);
      EXPECT_EQ(ways[2].sent_bytes, 2 * ways[3].sent_bytes);
      EXPECT_EQ(ways[3].sent_bytes, ways[4].sent_bytes);
      EXPECT_LE(ways[2].exchange.seconds, ways[0].exchange.seconds);
      EXPECT_DOUBLE_EQ(ways[2].total.seconds, predictor.at(n_ranks).seconds.total().seconds);
    }
  }
}

TEST(ScalingPrediction, FollowsTheExchangeThatIsAskedFor) {
  TransformSpec spec = healpix(256, 512);
  ScalingPredictor whole(spec, typical_machine(), {});
  spec.exchange.schedule = ExchangeSchedule::overlapped;
  ScalingPredictor overlapped(spec, typical_machine(), {});
  EXPECT_EQ(overlapped.at(2).work.n_passes, TransformPlan(spec, 0, 2).n_passes);
  EXPECT_LT(overlapped.at(2).seconds.exchange.seconds, whole.at(2).seconds.exchange.seconds);
  EXPECT_EQ(overlapped.at(2).ways[2].exchange.seconds, whole.at(2).ways[2].exchange.seconds);
}

TEST(ScalingPrediction, FindsWhereScalingEndsAndWhy) {
  Machine slow_messages = typical_machine();
  slow_messages.network = {1e-3, 0, 1e-3, 0, 65536, 0};
  const auto latency = ScalingPredictor(healpix(64, 128), slow_messages, {}).end();
  ASSERT_TRUE(latency);
  EXPECT_EQ(latency->cause, ScalingEnd::Cause::messages);
  Machine no_messages = typical_machine();
  no_messages.network = {0, 0, 0, 0, 65536, 0};
  const auto orders = ScalingPredictor(healpix(16, 32), no_messages, {}).end();
  ASSERT_TRUE(orders);
  EXPECT_GT(orders->n_ranks, latency->n_ranks);
  EXPECT_NE(orders->cause, ScalingEnd::Cause::messages);
  EXPECT_LE(orders->n_ranks, 64) << "33 orders";
}

TEST(ScalingPrediction, OnDevicesTakesCopiesAndStagedModes) {
  const Machine machine = described_machine("h100_cluster");
  ScalingPredictor predictor(healpix(256, 512), machine, {.place = Place::device});
  const ScalingPrediction& one = predictor.at(1);
  EXPECT_GT(one.seconds.copies.seconds, 0);
  EXPECT_EQ(one.seconds.exchange.seconds, 0);
  const std::vector<ExchangeVariant>& ways = predictor.at(4).ways;
  ASSERT_EQ(ways.size(), 4u);
  EXPECT_EQ(ways[3].name, "staged");
  EXPECT_EQ(ways[3].sent_bytes, ways[2].sent_bytes);
  EXPECT_GT(ways[3].exchange.seconds, ways[2].exchange.seconds);
}

}  // namespace
}  // namespace ringweave::detail::test
