// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <utility>

#include "ringweave/alm.hpp"
#include "ringweave/error.hpp"
#include "sphere/mode_layout.hpp"

namespace ringweave::detail {
namespace {

TEST(AlmLayout, AllOrdersLieInHealpysOrder) {
  for (const auto& [lmax, mmax] : {std::pair{0, 0}, {1, 1}, {5, 2}, {32, 32}}) {
    const AlmLayout layout(lmax, mmax);
    std::int64_t next = 0;
    for (int m = 0; m <= mmax; ++m) {
      for (int l = m; l <= lmax; ++l) {
        EXPECT_EQ(layout.index(layout.row_of(m), l), next);
        EXPECT_EQ(AlmLayout::full_index(lmax, l, m), next);
        ++next;
      }
    }
    EXPECT_EQ(layout.size(), next);
    EXPECT_EQ(AlmLayout::full_size(lmax, mmax), next);
  }
}

TEST(AlmLayout, SomeOrdersLieOneAfterTheOther) {
  const AlmLayout layout(6, 5, {1, 4, 5});
  EXPECT_EQ(layout.n_orders(), 3);
  EXPECT_EQ(layout.size(), 6 + 3 + 2);
  EXPECT_EQ(layout.index(0, 1), 0);
  EXPECT_EQ(layout.index(1, 4), 6);
  EXPECT_EQ(layout.index(2, 6), 10);
  EXPECT_EQ(layout.row_of(4), 1);
  EXPECT_EQ(layout.row_of(2), -1);
  EXPECT_EQ(AlmLayout(6, 5, {}).size(), 0);
}

TEST(AlmLayout, IndicesPass32Bits) {
  EXPECT_EQ(AlmLayout::full_size(98303, 98303), std::int64_t{98304} * 98305 / 2);
  EXPECT_EQ(AlmLayout(98303, 98303).size(), AlmLayout::full_size(98303, 98303));
}

TEST(AlmLayout, ImpossibleShapesAreRefused) {
  EXPECT_THROW(AlmLayout(-1, 0), UsageError);
  EXPECT_THROW(AlmLayout(4, 5), UsageError);
  EXPECT_THROW(AlmLayout(4, -1), UsageError);
  EXPECT_THROW(AlmLayout(4, 3, {0, 4}), UsageError);
  EXPECT_THROW(AlmLayout(4, 4, {2, 1}), UsageError);
  EXPECT_THROW(AlmLayout(4, 4, {1, 1}), UsageError);
  EXPECT_THROW(AlmLayout(4, 4, {-1}), UsageError);
}

TEST(FieldSet, ComponentsAreNumberedFieldByField) {
  const FieldSet fields({0, 2, 0, 1});
  EXPECT_EQ(fields.n_components(), 6);
  EXPECT_EQ(fields.max_spin(), 2);
  EXPECT_EQ(fields.fields()[1].first_component, 1);
  EXPECT_EQ(fields.fields()[2].first_component, 3);
  EXPECT_EQ(fields.fields()[3].first_component, 4);
  EXPECT_EQ(FieldSet::batch(0, 5).n_components(), 5);
  EXPECT_THROW(FieldSet({}), UsageError);
  EXPECT_THROW(FieldSet::batch(0, -1), UsageError);
  EXPECT_THROW(FieldSet({0, -2}), UsageError);
}

TEST(ModeLayout, RowsKeepTheirSegmentsAndEmptySegmentsVanish) {
  ModeLayout layout;
  layout.begin_row(3);
  layout.add_segment({0, 4}, 0);
  layout.add_segment({4, 4}, 4);
  layout.add_segment({6, 9}, 10);
  layout.begin_row(7);
  layout.fold_row(0, {1, 3});
  layout.begin_row(8);
  layout.add_segment({2, 3}, 4);
  layout.set_size(13);
  ASSERT_EQ(layout.rows().size(), 3U);
  const auto first = layout.segments(layout.rows()[0]);
  ASSERT_EQ(first.size(), 2U);
  EXPECT_EQ(first[1].rings, (RingRange{6, 9}));
  EXPECT_EQ(first[1].first, 10);
  EXPECT_EQ(layout.segments(layout.rows()[1]).size(), 0U);
  EXPECT_EQ(layout.rows()[0].fold_into, -1);
  EXPECT_EQ(layout.rows()[1].fold_into, 0);
  EXPECT_EQ(layout.rows()[1].fold_rings, (RingRange{1, 3}));
  EXPECT_EQ(layout.segments(layout.rows()[2])[0].first, 4);
  EXPECT_EQ(layout.size(), 13);
}

}  // namespace
}  // namespace ringweave::detail
