// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/exchange/row_parts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "plan_cases.hpp"

namespace ringweave::test {
namespace {

struct Parted {
  ExchangePlan whole;
  std::vector<RowPart> parts;

  Parted(const PlanCase& of, int rank, int n_ranks, int n_parts,
         const ExchangeOptions& options = {})
      : whole(plan_exchange(of.limits, of.fold, of.orders(n_ranks), of.rings(n_ranks), rank, 1,
                            options)),
        parts(plan_row_parts(of.limits, of.fold, of.orders(n_ranks), of.rings(n_ranks), rank, whole,
                             options.folding, n_parts)) {}
};

bool contains(const ExchangePlan::Block& block, const RowSegment& segment) {
  return segment.first >= block.first &&
         segment.first + segment.rings.size() <= block.first + block.count;
}

/// The part whose rows hold this one or the one it folds into; -1: none.
std::int64_t part_of(const std::vector<RowPart>& parts, std::span<const ModeLayout::Row> rows,
                     std::int64_t row) {
  const std::int64_t into = rows[to_size(row)].fold_into;
  const std::int64_t head = into < 0 ? row : into;
  for (std::int64_t p = 0; p < ssize64(parts); ++p) {
    const RowPart& part = parts[to_size(p)];
    if (head >= part.first_row && head < part.first_row + part.n_rows) return p;
  }
  return -1;
}

template <class Check>
void for_each_plan(const Check& check) {
  for (const PlanCase& of : small_cases()) {
    for (const int n_ranks : {1, 2, 5, 8}) {
      for (const int n_parts : {1, 3, 8}) {
        for (int rank = 0; rank < n_ranks; ++rank) {
          SCOPED_TRACE(of.name + ", rank " + std::to_string(rank) + " of " +
                       std::to_string(n_ranks) + ", parts " + std::to_string(n_parts));
          check(Parted(of, rank, n_ranks, n_parts));
        }
      }
    }
  }
}

TEST(RowParts, EveryModeOfARowLiesInTheBlocksOfItsPart) {
  for_each_plan([](const Parted& planned) {
    const ModeLayout& layout = planned.whole.by_order;
    for (std::int64_t row = 0; row < ssize64(layout.rows()); ++row) {
      const std::int64_t p = part_of(planned.parts, layout.rows(), row);
      ASSERT_GE(p, 0) << "row " << row;
      const auto& blocks = planned.parts[to_size(p)].blocks;
      for (const RowSegment& segment : layout.segments(layout.rows()[to_size(row)])) {
        EXPECT_TRUE(std::any_of(blocks.begin(), blocks.end(),
                                [&](const auto& block) { return contains(block, segment); }))
            << "row " << row;
      }
    }
  });
}

TEST(RowParts, PartsAreWhatThePlanSendsOneAfterTheOther) {
  for_each_plan([](const Parted& planned) {
    for (std::size_t peer = 0; peer < planned.whole.by_order_blocks.size(); ++peer) {
      const ExchangePlan::Block whole = planned.whole.by_order_blocks[peer];
      std::int64_t next = whole.first;
      for (const RowPart& part : planned.parts) {
        EXPECT_GT(part.n_rows, 0);
        EXPECT_EQ(part.blocks[peer].first, next);
        next += part.blocks[peer].count;
      }
      EXPECT_EQ(next, whole.first + whole.count);
    }
  });
}

TEST(RowParts, AreOfAboutEqualSize) {
  const PlanCase of("", RingGrid::healpix(96), 287, 287, 0);
  const Parted planned(of, 1, 3, 8);
  ASSERT_EQ(planned.parts.size(), 8u);
  std::multiset<std::int64_t> sizes;
  for (const RowPart& part : planned.parts) {
    std::int64_t size = 0;
    for (const auto& block : part.blocks) size += block.count;
    sizes.insert(size);
  }
  EXPECT_LT(*sizes.rbegin(), 2 * *sizes.begin());
}

}  // namespace
}  // namespace ringweave::test
