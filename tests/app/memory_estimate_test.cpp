// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/predict/memory_estimate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "ringweave/files.hpp"
#include "transform/transform_cases.hpp"

namespace ringweave::detail::test {
namespace {

constexpr std::int64_t map_nside = 64;
constexpr int map_lmax = 128;
constexpr std::int64_t n_pixels = 12 * map_nside * map_nside;
constexpr std::int64_t n_alm = std::int64_t{map_lmax + 1} * (map_lmax + 2) / 2;

TransformPlan plan_of(const std::vector<int>& spins, int rank = 0, int n_ranks = 1) {
  return TransformPlan(Case{share(RingGrid::healpix(map_nside)), map_lmax, map_lmax, spins}.spec(),
                       rank, n_ranks);
}

std::int64_t bytes_of(const MemoryEstimate& estimate, const std::string& name) {
  const auto item = std::find_if(estimate.items.begin(), estimate.items.end(),
                                 [&](const MemoryItem& one) { return one.name == name; });
  return item == estimate.items.end() ? -1 : item->bytes;
}

MemoryUse use_of(Operation operation) {
  MemoryUse use;
  use.operation = operation;
  return use;
}

TEST(MemoryEstimate, CountsTheMapAndTheAlmOfEveryComponent) {
  const MemoryEstimate one = estimate_memory(plan_of({0}), use_of(Operation::smoothing_in_place));
  EXPECT_EQ(bytes_of(one, "map"), 8 * n_pixels);
  EXPECT_EQ(bytes_of(one, "a_lm"), 16 * n_alm);
  const MemoryEstimate three =
      estimate_memory(plan_of({0, 2}), use_of(Operation::smoothing_in_place));
  EXPECT_EQ(bytes_of(three, "map"), 3 * 8 * n_pixels);
  EXPECT_EQ(bytes_of(three, "a_lm"), 3 * 16 * n_alm);
}

TEST(MemoryEstimate, HoldsWhatIsBesideForEachPixel) {
  const TransformPlan plan = plan_of({0, 2});
  MemoryUse use = use_of(Operation::analysis_iterating);
  const MemoryEstimate without = estimate_memory(plan, use);
  use.extra_buffers = {{"mask", 8}, {"rms of the noise", 24}};
  const MemoryEstimate with = estimate_memory(plan, use);
  EXPECT_EQ(bytes_of(with, "mask"), 8 * n_pixels);
  EXPECT_EQ(bytes_of(with, "rms of the noise"), 24 * n_pixels);
  EXPECT_EQ(with.buffers(), without.buffers() + 32 * n_pixels);
}

TEST(MemoryEstimate, SinglePrecisionTakesHalf) {
  MemoryUse use = use_of(Operation::smoothing_in_place);
  use.precision = Precision::single_;
  const MemoryEstimate estimate = estimate_memory(plan_of({0}), use);
  EXPECT_EQ(bytes_of(estimate, "map"), 4 * n_pixels);
  EXPECT_EQ(bytes_of(estimate, "a_lm"), 8 * n_alm);
}

TEST(MemoryEstimate, ConjugateGradientsHoldFourAlmAndAResidual) {
  const MemoryEstimate estimate =
      estimate_memory(plan_of({0}), use_of(Operation::analysis_conjugate));
  EXPECT_EQ(bytes_of(estimate, "residual map"), 8 * n_pixels);
  EXPECT_EQ(bytes_of(estimate, "a_lm (solution and three vectors)"), 4 * 16 * n_alm);
}

TEST(MemoryEstimate, PixelWeightsAreOneNumberAPixelAndBringTheResidualMap) {
  MemoryUse use = use_of(Operation::analysis_iterating);
  EXPECT_EQ(bytes_of(estimate_memory(plan_of({0, 2}), use), "residual map"), -1);
  use.pixel_weights = PixelWeights::held;
  const MemoryEstimate weighted = estimate_memory(plan_of({0, 2}), use);
  EXPECT_EQ(bytes_of(weighted, "pixel weights"), 8 * n_pixels);
  EXPECT_EQ(bytes_of(weighted, "residual map"), 3 * 8 * n_pixels);
}

TEST(MemoryEstimate, ConsumingNeedsNoMoreThanKeeping) {
  for (const std::vector<int>& spins : {std::vector<int>{0}, std::vector<int>{0, 2}}) {
    for (const int n_ranks : {1, 3}) {
      const TransformPlan plan = plan_of(spins, 0, n_ranks);
      const std::int64_t keeping =
          estimate_memory(plan, use_of(Operation::smoothing_in_place)).buffers();
      for (const Operation operation :
           {Operation::synthesis_consuming, Operation::analysis_consuming})
        EXPECT_LE(estimate_memory(plan, use_of(operation)).buffers(), keeping) << n_ranks;
    }
  }
}

TEST(MemoryEstimate, RanksHaveTheSameItemsAndShareTheMap) {
  std::int64_t map = 0;
  std::vector<std::string> names;
  for (int rank = 0; rank < 3; ++rank) {
    const MemoryEstimate estimate =
        estimate_memory(plan_of({0}, rank, 3), use_of(Operation::smoothing_in_place));
    map += bytes_of(estimate, "map");
    std::vector<std::string> mine;
    for (const MemoryItem& item : estimate.items) mine.push_back(item.name);
    if (rank == 0) names = mine;
    EXPECT_EQ(mine, names) << rank;
  }
  EXPECT_EQ(map, 8 * n_pixels);
}

TEST(MemoryEstimate, BuffersAreAllButWhatWasResidentBefore) {
  const MemoryEstimate estimate{{{"program, libraries, tables", 100}, {"map", 20}, {"a_lm", 3}}};
  EXPECT_EQ(estimate.total(), 123);
  EXPECT_EQ(estimate.buffers(), 23);
}

TEST(MemoryEstimate, BytesHaveAUnit) {
  EXPECT_EQ(bytes_text(1536), "1.5 KiB");
  EXPECT_EQ(bytes_text(2.5 * 1024 * 1024), "2.5 MiB");
  EXPECT_EQ(bytes_text(1.5 * 1024 * 1024 * 1024), "1.50 GiB");
}

}  // namespace
}  // namespace ringweave::detail::test
