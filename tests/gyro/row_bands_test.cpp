// SPDX-License-Identifier: GPL-3.0-or-later
#include "gyro/row_bands.hpp"

#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "bench/sent_bytes.hpp"
#include "stencil_problem.hpp"
#include "support/rank_groups.hpp"
#include "support/tolerance.hpp"

namespace ringweave::detail::test {
namespace {

std::vector<std::int64_t> even_cuts(std::int64_t n, std::int64_t n_parts) {
  std::vector<std::int64_t> cuts;
  for (std::int64_t part = 0; part <= n_parts; ++part) cuts.push_back(n * part / n_parts);
  return cuts;
}

using Messages = std::vector<HaloPlan::Message>;

/// The messages between two ranks, in order.
std::map<std::pair<int, int>, Messages> by_pair(const std::vector<HaloPlan>& plans,
                                                bool of_senders) {
  std::map<std::pair<int, int>, Messages> result;
  for (const HaloPlan& plan : plans) {
    for (const HaloPlan::Message& message : of_senders ? plan.sends : plan.receives) {
      const auto pair =
          of_senders ? std::pair(plan.rank, message.peer) : std::pair(message.peer, plan.rank);
      result[pair].push_back(message);
    }
  }
  return result;
}

void expect_matching(const std::vector<HaloPlan>& plans) {
  const auto sent = by_pair(plans, true);
  const auto received = by_pair(plans, false);
  ASSERT_EQ(sent.size(), received.size());
  std::int64_t wrong = 0;
  for (const auto& [pair, messages] : sent) {
    const auto found = received.find(pair);
    ASSERT_NE(found, received.end()) << pair.first << " to " << pair.second;
    ASSERT_EQ(messages.size(), found->second.size());
    for (std::size_t i = 0; i < messages.size(); ++i) {
      wrong += messages[i].rings == found->second[i].rings ? 0 : 1;
      wrong += messages[i].count == found->second[i].count ? 0 : 1;
    }
  }
  EXPECT_EQ(wrong, 0);
}

/// Every row that is held is own or fetched, and no other is fetched.
void expect_held_rows(const HaloPlan& plan, const HeldRows& rows) {
  std::vector<char> is_held(to_size(rows.n), 0);
  for (std::int64_t h = 0; h < rows.size(); ++h) is_held[to_size(rows.row(h))] = 1;
  for (std::int64_t y = 0; y < rows.n; ++y) {
    const bool is_own = y >= rows.own.begin && y < rows.own.end;
    ASSERT_EQ(plan.contains(RingId{y}), is_held[to_size(y)] == 1 && !is_own) << "row " << y;
  }
}

TEST(RowHalo, PlansOfAllPartsMatch) {
  for (const PlaneBoundary boundary : boundaries) {
    for (const std::int64_t n : {2, 7, 20}) {
      for (const std::int64_t n_parts : {1, 2, 3, 5, 8, 30}) {
        for (const std::int64_t halo : {0, 1, 2, 5, 19, 50}) {
          SCOPED_TRACE(testing::Message() << n << " rows, " << n_parts << " parts, halo " << halo
                                          << ", boundary " << static_cast<int>(boundary));
          const std::vector<std::int64_t> cuts = even_cuts(n, n_parts);
          std::vector<HaloPlan> plans;
          for (int part = 0; part < n_parts; ++part) {
            plans.push_back(plan_row_halo(boundary, cuts, part, halo, 3));
            const RowRange own{cuts[to_size(part)], cuts[to_size(part) + 1]};
            expect_held_rows(plans.back(), held_rows(boundary, n, own, halo));
          }
          expect_matching(plans);
        }
      }
    }
  }
}

TEST(RowHalo, IsPlannedForManyParts) {
  constexpr int n_parts = 16384;
  for (const PlaneBoundary boundary : boundaries) {
    const std::vector<std::int64_t> cuts = even_cuts(50000, n_parts);
    std::vector<HaloPlan> plans;
    for (int part = 0; part < n_parts; ++part)
      plans.push_back(plan_row_halo(boundary, cuts, part, 10, 1000));
    expect_matching(plans);
  }
}

TEST(HeldRows, AreThoseOfTheirPositions) {
  for (const PlaneBoundary boundary : boundaries) {
    const HeldRows rows = held_rows(boundary, 12, {1, 4}, 3);
    EXPECT_FALSE(rows.is_whole);
    for (std::int64_t position = -2; position < 7; ++position) {
      const std::int64_t held = rows.held_at(position);
      const std::int64_t node = node_at(boundary, 12, position);
      if (node < 0) {
        EXPECT_EQ(held, -1);
      } else {
        EXPECT_EQ(rows.row(held), node);
      }
    }
  }
  EXPECT_TRUE(held_rows(PlaneBoundary::periodic, 12, {1, 5}, 4).is_whole);
  EXPECT_TRUE(held_rows(PlaneBoundary::mirror, 12, {0, 12}, 0).is_whole);
}

class RowBands : public OnEveryRankCount {
 protected:
  /// A scheme of the rows of this rank, and that of whole planes.
  void expect_whole_planes(const GyroSpec& spec) const {
    const PlaneGrid& grid = spec.grid;
    const std::vector<std::int64_t> cuts = even_cuts(grid.y.size, comm().size());
    const RowShare share{cuts[to_size(comm().rank())], cuts[to_size(comm().rank()) + 1],
                         comm().rank(), comm().size()};
    constexpr std::int64_t most_planes = 3;
    const std::unique_ptr<Scheme> scheme = make_stencil_scheme(spec, comm(), share);
    const std::unique_ptr<SchemeWork> work = scheme->make_work(most_planes, 1);
    scheme->set_radii(0, ssize64(spec.radii));
    WholePlanes whole(spec);
    const std::int64_t first = share.row_begin * grid.x.size;
    const std::int64_t size = (share.row_end - share.row_begin) * grid.x.size;
    for (const Direction direction : {Direction::average, Direction::transpose}) {
      for (const std::int64_t n_planes : {most_planes, std::int64_t{2}}) {
        const Plane planes = random_plane(n_planes * grid.n_nodes(), 5);
        Plane result(to_size(n_planes * size));
        scheme->clear(*work, direction);
        const std::int64_t before = mpi_bytes_sent();
        scheme->load(*work, {planes.data() + first, n_planes, size, grid.n_nodes()});
        EXPECT_EQ(mpi_bytes_sent() - before, scheme->bytes_sent(*work));
        for (std::int64_t r = 0; r < ssize64(spec.radii); ++r) scheme->add(*work, r, 1);
        scheme->store(*work, {result.data(), n_planes, size}, Accumulate::overwrite);
        for (std::int64_t p = 0; p < n_planes; ++p) {
          const auto begin = planes.begin() + p * grid.n_nodes();
          const Plane plane(begin, begin + grid.n_nodes());
          Plane expected(to_size(size));
          for (std::int64_t r = 0; r < ssize64(spec.radii); ++r) {
            const Plane one = whole.apply(direction, plane, r);
            for (std::int64_t i = 0; i < size; ++i) expected[to_size(i)] += one[to_size(first + i)];
          }
          EXPECT_LT(
              largest_difference(Plane(result.begin() + p * size, result.begin() + (p + 1) * size),
                                 expected),
              tolerance::rank_invariance * static_cast<double>(ssize64(spec.radii)));
        }
      }
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Ranks, RowBands, every_rank_count(), name_of_rank_groups);

TEST_P(RowBands, GiveAveragesOfWholePlanes) {
  for (const GyroMethod method : {GyroMethod::bilinear, GyroMethod::bicubic}) {
    for (const PlaneBoundary x : boundaries) {
      for (const PlaneBoundary y : boundaries) {
        SCOPED_TRACE(testing::Message() << "method " << static_cast<int>(method) << ", boundaries "
                                        << static_cast<int>(x) << static_cast<int>(y));
        const PlaneGrid grid{plane_axis(12, x, 0, 11), plane_axis(40, y, 0, 31.2)};
        expect_whole_planes(stencil_spec(grid, method, {0.3, 2}));
        expect_whole_planes(stencil_spec(grid, method, {0, 6.1}));
        expect_whole_planes(stencil_spec(grid, method, {25, 50}));
      }
    }
  }
}

TEST_P(RowBands, OfFewerRowsThanRanksGiveAveragesOfWholePlanes) {
  for (const PlaneBoundary y : boundaries) {
    const PlaneGrid grid{plane_axis(11, PlaneBoundary::zero, 0, 10), plane_axis(4, y, 0, 3)};
    expect_whole_planes(stencil_spec(grid, GyroMethod::bilinear, {0.7, 2}));
    if (y != PlaneBoundary::zero)
      expect_whole_planes(stencil_spec(grid, GyroMethod::bicubic, {0.7, 5}));
  }
}

}  // namespace
}  // namespace ringweave::detail::test
