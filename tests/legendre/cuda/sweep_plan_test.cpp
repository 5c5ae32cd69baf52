// SPDX-License-Identifier: GPL-3.0-or-later
#include "legendre/cuda/plan/sweep_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "legendre/cuda/plan/field_passes.hpp"

// The inputs of a device stage's plan, without a device and without its memory.
namespace ringweave::detail::gpu {
namespace {

LegendreShape shape_for(RingGrid ring_grid, int lmax, int mmax, bool fold) {
  const auto grid = std::make_shared<const RingGrid>(std::move(ring_grid));
  const ModeLimits limits(*grid, lmax, mmax, 0);
  const FoldRule rule = fold ? FoldRule::for_grid(*grid, mmax) : FoldRule{};
  ModeLayout rows;
  for (int m = 0; m <= mmax; ++m) {
    rows.begin_row(m);
    if (rule.active() && rule.alias(m).m0 != m) {
      rows.fold_row(rule.alias(m).m0, intersection(limits.kept(m), rule.rings));
    }
  }
  return {grid, limits, rule, AlmLayout(lmax, mmax), rows, FieldSet({0})};
}

/// Bytes of one map's partial sums.
std::vector<RowBytes> bytes_of(const SweepPlan& plan) {
  std::vector<RowBytes> bytes;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(plan.rows.size()); ++i) {
    bytes.push_back({32 * plan.steps_of(i).partials, 0});
  }
  return bytes;
}

void expect_items_cover_the_rows(const LegendreShape& shape, const SweepPlan& plan,
                                 const PairIndex& places, const std::vector<Item>& items,
                                 int pairs_per_thread) {
  std::vector<std::vector<Span>> spans(plan.rows.size());
  for (const Item& item : items) {
    const SweepRow& row = plan.rows[static_cast<std::size_t>(item.row)];
    EXPECT_GE(item.slot, 0);
    EXPECT_LT(item.slot, row.n_slots);
    for (const Span& span : item.spans) {
      if (span.count == 0) continue;
      EXPECT_LE(span.count, pairs_per_thread * warp_lanes);
      spans[static_cast<std::size_t>(item.row)].push_back(span);
    }
  }
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const RingRange kept = shape.limits.kept(plan.rows[i].m);
    std::int64_t next = kept.empty() ? shape.grid->n_pairs() : places.first_pair(kept);
    std::sort(spans[i].begin(), spans[i].end(),
              [](const Span& a, const Span& b) { return a.first < b.first; });
    for (const Span& span : spans[i]) {
      EXPECT_EQ(span.first, next);
      next += span.count;
    }
    EXPECT_EQ(next, shape.grid->n_pairs());
  }
}

TEST(SweepPlan, ItemsCoverEveryRowOnceDearestFirst) {
  const LegendreShape shape = shape_for(RingGrid::healpix(256), 600, 600, false);
  const StageRows stage(shape);
  const PairIndex places(*shape.grid);
  SweepPlan plan(shape, stage, {false, 0, 600, 0, shape.grid->n_pairs(), 1, 2}, places);
  const auto ends = batch_ends_for(stage, bytes_of(plan), 5000000);
  EXPECT_GT(ends.size(), 1U);
  plan.cut(stage, ends);
  expect_items_cover_the_rows(shape, plan, places, plan.adjoint_items, 2);
  for (const SweepPlan::Batch& batch : plan.batches) {
    std::int64_t steps = 0;
    std::int64_t partials = 0;
    for (std::int64_t i = batch.first_row; i < batch.first_row + batch.n_rows; ++i) {
      const SweepRow& row = plan.rows[static_cast<std::size_t>(i)];
      EXPECT_EQ(row.columns, steps);
      EXPECT_EQ(row.partials, partials);
      EXPECT_EQ(row.n_steps % chunk, 0);
      steps += row.n_steps;
      partials += std::int64_t{row.n_steps} * row.n_slots;
    }
    EXPECT_EQ(batch.steps.columns, steps);
    EXPECT_EQ(batch.steps.partials, partials);
    std::int64_t last = std::int64_t{1} << 60;
    for (std::int64_t i = 0; i < batch.n_synthesis_items; ++i) {
      const Item& item =
          plan.synthesis_items[static_cast<std::size_t>(batch.first_synthesis_item + i)];
      const auto warps = std::count_if(std::begin(item.spans), std::end(item.spans),
                                       [](const Span& span) { return span.count > 0; });
      const std::int64_t cost = plan.rows[static_cast<std::size_t>(item.row)].n_steps * warps;
      EXPECT_LE(cost, last);
      last = cost;
    }
  }
}

TEST(SweepPlan, RowsOfAGenerationFoldIntoDifferentRowsAfterThoseTheyFoldInto) {
  const LegendreShape shape = shape_for(RingGrid::healpix(4), 70, 70, true);
  const StageRows stage(shape);
  ASSERT_GT(stage.generation_ends.size(), 3U);
  std::vector<bool> done(stage.orders.size(), false);
  std::size_t begin = 0;
  for (const std::int64_t end : stage.generation_ends) {
    std::vector<std::int64_t> heads;
    for (; begin < static_cast<std::size_t>(end); ++begin) {
      const auto row = static_cast<std::size_t>(stage.sequence[begin]);
      heads.push_back(stage.orders[row].head);
      if (heads.back() != stage.sequence[begin]) {
        EXPECT_TRUE(done[static_cast<std::size_t>(heads.back())]);
      }
      done[row] = true;
    }
    std::sort(heads.begin(), heads.end());
    EXPECT_EQ(std::adjacent_find(heads.begin(), heads.end()), heads.end());
  }
  EXPECT_EQ(std::count(done.begin(), done.end(), false), 0);
}

TEST(SweepPlan, IsMadeForTheLargestDegreesInBatches) {
  const int lmax = 32768;
  const LegendreShape shape = shape_for(RingGrid::healpix(8192), lmax, lmax, false);
  const StageRows stage(shape);
  const PairIndex places(*shape.grid);
  const std::int64_t bytes = std::int64_t{1} << 30;
  SweepPlan plan(shape, stage, {false, 0, lmax, 0, shape.grid->n_pairs(), 8, 8}, places);
  plan.cut(stage, batch_ends_for(stage, bytes_of(plan), bytes));
  EXPECT_EQ(plan.rows.back().coefficients + plan.rows.back().n_steps, [&] {
    std::int64_t steps = 0;
    for (const SweepRow& row : plan.rows) steps += row.n_steps;
    return steps;
  }());
  EXPECT_GT(plan.rows.back().coefficients, std::int64_t{1} << 28);
  for (const SweepPlan::Batch& batch : plan.batches) {
    EXPECT_LE(32 * batch.steps.partials, bytes);
  }
}

/// Rows that fold into one another in two generations, each alone.
StageRows two_generations(std::int64_t n) {
  StageRows rows(shape_for(RingGrid::healpix(1), 2, 2, false));
  rows.sequence.resize(static_cast<std::size_t>(n));
  rows.generation_ends = {n / 2, n};
  return rows;
}

TEST(BatchEnds, KeepTheMostOfBothWithinTheBytes) {
  const StageRows rows = two_generations(12);
  std::vector<RowBytes> bytes;
  for (std::int64_t i = 0; i < 12; ++i) bytes.push_back({12 - i, i % 6 + 1});
  for (const std::int64_t most : {1, 20, 30, 40, 60, 1000}) {
    const auto ends = batch_ends_for(rows, bytes, most);
    EXPECT_EQ(std::count(ends.begin(), ends.end(), 6), 1);
    EXPECT_EQ(ends.back(), 12);
    RowBytes largest;
    std::int64_t begin = 0;
    for (const std::int64_t end : ends) {
      ASSERT_GT(end, begin);
      RowBytes batch;
      for (; begin < end; ++begin) {
        batch.swept += bytes[static_cast<std::size_t>(begin)].swept;
        batch.made += bytes[static_cast<std::size_t>(begin)].made;
      }
      largest = {std::max(largest.swept, batch.swept), std::max(largest.made, batch.made)};
    }
    if (most == 1) {
      EXPECT_EQ(ends.size(), 12U);
    } else {
      EXPECT_LE(largest.swept + largest.made, most);
    }
    if (most == 1000) {
      EXPECT_EQ(ends.size(), 2U);
    }
  }
}

TEST(FieldPasses, QAndUOfAFieldShareAPass) {
  const LegendreShape scalars = shape_for(RingGrid::healpix(64), 150, 150, false);
  LegendreShape shape = scalars;
  shape.fields = FieldSet({0, 2, 0, 1, 3, 0, 0, 0});
  const FieldPasses fields(shape);
  EXPECT_EQ(fields.degree, 153);
  std::vector<std::int64_t> components;
  for (const FieldPass& pass : fields.passes) {
    EXPECT_LE(pass.maps.size(), static_cast<std::size_t>(most_maps));
    for (std::size_t i = 0; i < pass.maps.size(); ++i) {
      components.push_back(pass.maps[i].component);
      if (pass.maps[i].spin_field < 0) continue;
      const std::size_t partner = i % 2 == 0 ? i + 1 : i - 1;
      ASSERT_LT(partner, pass.maps.size());
      EXPECT_EQ(pass.maps[partner].spin_field, pass.maps[i].spin_field);
    }
  }
  std::sort(components.begin(), components.end());
  EXPECT_EQ(components, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
}

}  // namespace
}  // namespace ringweave::detail::gpu
