// SPDX-License-Identifier: GPL-3.0-or-later
#include "transform/device_memory_plan.hpp"

#include <gtest/gtest.h>

#include "distribute/mpi/device_sharers.hpp"
#include "ringweave/error.hpp"
#include "ringweave/execution.hpp"
#include "ringweave/transform.hpp"
#include "transform/device_budget.hpp"
#include "transform/transform_cases.hpp"

namespace ringweave::detail::test {
namespace {

TransformSpec healpix_spec(std::int64_t nside, int lmax, std::vector<int> spins) {
  return Case{share(RingGrid::healpix(nside)), lmax, lmax, std::move(spins)}.spec();
}

TEST(DeviceMemoryPlan, CountsAlmModesAndMapOfTheRank) {
  for (const int n_ranks : {1, 3}) {
    for (int rank = 0; rank < n_ranks; ++rank) {
      const TransformPlan plan(healpix_spec(32, 64, {0, 2}), rank, n_ranks);
      const DeviceMemoryPlan memory = plan_device_memory(plan);
      EXPECT_EQ(memory.alm, 3 * 16 * plan.alm.size());
      EXPECT_EQ(memory.map, 3 * 8 * plan.rings.n_pixels() + 8 * plan.rings.n_rings());
      EXPECT_EQ(memory.modes, plan.by_ring_bytes() + plan.sent_mode_bytes());
      EXPECT_GT(memory.legendre, 0);
      EXPECT_EQ(memory.total(),
                memory.legendre + memory.ring_fft + memory.modes + memory.alm + memory.map);
    }
  }
}

TEST(DeviceMemoryPlan, StagesWhatGoesToOtherRanks) {
  EXPECT_EQ(plan_device_memory(TransformPlan(healpix_spec(32, 64, {0}), 0, 1)).staging, 0);
  const TransformPlan plan(healpix_spec(32, 64, {0}), 1, 4);
  const std::int64_t received = plan.by_ring_bytes() - 16 * plan.exchange.by_ring_blocks[1].count;
  EXPECT_EQ(plan_device_memory(plan).staging, plan.bytes_sent() + received);
}

TEST(DeviceMemoryPlan, NeedsNoMemoryItself) {
  const DeviceMemoryPlan memory =
      plan_device_memory(TransformPlan(healpix_spec(2048, 4096, {0}), 0, 1));
  // Map 0.40 GB, a_lm 0.13 GB, modes 0.36 GB.
  EXPECT_GT(memory.total(), 850'000'000);
  EXPECT_LT(memory.total(), 4'000'000'000);
}

TEST(DeviceBudget, ASixteenthStaysForTheRuntime) {
  EXPECT_EQ(usable_device_bytes(1600), 1500);
  EXPECT_EQ(usable_device_bytes(0), 0);
}

TEST(DeviceBudget, StagesThatCopyShareWhatIsFree) {
  DeviceBudget share;
  share.n_ranks = 3;
  share.free_bytes = 1600;
  EXPECT_EQ(copying_stage_bytes(share, 2, 1), 1500 / 6);
  EXPECT_EQ(copying_stage_bytes(share, 2, 2), 1500 / 12);
  EXPECT_EQ(copying_stage_bytes(share, 1, 2), 1500 / 6);
}

TEST(DeviceMemoryPlan, GroupsHoldTheModesOfOneAndTheStagesOfEachShape) {
  TransformSpec spec = healpix_spec(32, 64, {0, 2, 0, 2});
  const DeviceMemoryPlan together = plan_device_memory(TransformPlan(spec, 1, 3));
  spec.mode_bytes = TransformPlan(spec, 1, 3).mode_bytes_of(3);
  const TransformPlan plan(spec, 1, 3);
  ASSERT_EQ(plan.groups.size(), 2U);
  ASSERT_EQ(plan.n_group_shapes(), 1);
  const DeviceMemoryPlan grouped = plan_device_memory(plan);
  EXPECT_EQ(2 * grouped.modes, together.modes);
  EXPECT_EQ(2 * grouped.staging, together.staging);
  EXPECT_EQ(grouped.alm, together.alm);
  EXPECT_EQ(grouped.map, together.map);

  spec.mode_bytes = 1;  // a field at a time, of two kinds
  const TransformPlan by_field(spec, 1, 3);
  ASSERT_EQ(by_field.n_group_shapes(), 2);
  const auto ring_fft_of = [&](std::vector<int> spins) {
    return plan_device_memory(TransformPlan(healpix_spec(32, 64, std::move(spins)), 1, 3)).ring_fft;
  };
  EXPECT_EQ(plan_device_memory(by_field).ring_fft, ring_fft_of({0}) + ring_fft_of({2}));
}

TEST(DeviceMemoryPlan, SinglePrecisionHasBuffersOfItsOwn) {
  TransformSpec spec = healpix_spec(32, 64, {0});
  const DeviceMemoryPlan wide = plan_device_memory(TransformPlan(spec, 1, 4));
  spec.exchange.precision = ModePrecision::single_;
  const DeviceMemoryPlan narrow = plan_device_memory(TransformPlan(spec, 1, 4));
  EXPECT_EQ(2 * narrow.staging, wide.staging);
  EXPECT_EQ(narrow.modes, wide.modes + narrow.staging);
  EXPECT_EQ(plan_device_memory(TransformPlan(spec, 0, 1)).modes,
            TransformPlan(spec, 0, 1).by_ring_bytes());
}

TEST(DeviceMemoryPlan, StagesInBlocksKeepToWhatTheyMayTake) {
  TransformPlan plan(healpix_spec(256, 512, {0, 2}), 1, 2);
  const DeviceMemoryPlan whole = plan_device_memory(plan);
  for (const std::int64_t most : {std::int64_t{31} << 20, std::int64_t{28} << 20}) {
    plan.copying_stage_bytes = most;
    const DeviceMemoryPlan blocks = plan_device_blocks(plan);
    EXPECT_GT(blocks.legendre, 0);
    EXPECT_LE(blocks.legendre, most);
    EXPECT_GT(blocks.staging, 0);
    EXPECT_GT(blocks.ring_fft, 0);
    EXPECT_LE(blocks.ring_fft, most);
    EXPECT_LT(blocks.total(), whole.total());
    EXPECT_EQ(blocks.total(), blocks.legendre + blocks.ring_fft);
  }
  plan.copying_stage_bytes = 1000;
  EXPECT_THROW(plan_device_blocks(plan), ResourceError);
}

}  // namespace
}  // namespace ringweave::detail::test
