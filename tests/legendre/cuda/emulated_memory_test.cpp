// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <complex>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/mode_view.hpp"
#include "legendre/cuda/blocks/row_blocks.hpp"
#include "legendre/cuda/emulated_stage.hpp"
#include "legendre/cuda/launches/coefficient_launch.hpp"
#include "legendre/cuda/plan/stage_memory.hpp"
#include "legendre/cuda/plan/stage_plan.hpp"
#include "legendre/device_legendre_stage.hpp"
#include "legendre/shared/recurrence.hpp"
#include "ringweave/error.hpp"
#include "support/warpwise_block.hpp"

// The memory of a device stage, and working in less: coefficients, blocks of rows, bytes.
namespace ringweave::detail {
namespace {

using Fold = LegendreProblem::Fold;
using gpu::RowBlocks;

struct MadeCoefficients {
  MadeCoefficients(const std::vector<int>& orders, int degree) {
    std::vector<gpu::OrderRow> order_rows;
    std::int64_t steps = 0;
    for (const int m : orders) {
      gpu::OrderRow order{};
      order.m = m;
      order.head = ssize64(order_rows);
      order_rows.push_back(order);
      gpu::SweepRow row{};
      row.order_row = order.head;
      row.m = m;
      row.n_steps = static_cast<std::int32_t>(gpu::n_steps_by_two(m, degree));
      row.coefficients = steps;
      row.precise = -1;
      rows.push_back(row);
      steps += row.n_steps;
    }
    coefficients.resize(to_size(2 * steps));
    alpha.resize(to_size(steps));
    gpu::WarpwiseMachine machine;
    machine.launch(gpu::CoefficientLaunch{rows.data(),
                                          order_rows.data(),
                                          0,
                                          {0, ssize64(rows)},
                                          nullptr,
                                          nullptr,
                                          coefficients.data(),
                                          alpha.data()},
                   ssize64(rows));
    EXPECT_TRUE(machine.barriers_agree);
  }
  std::vector<gpu::SweepRow> rows;
  std::vector<gpu::Double2> coefficients;
  std::vector<double> alpha;
};

TEST(CoefficientLaunch, MakesTheCoefficientsOfTheHost) {
  for (const int degree : {40, 900, 4100}) {
    const std::vector<int> orders{33, 34, 40, degree / 2 + 20, degree};
    const MadeCoefficients made(orders, degree);
    for (std::size_t i = 0; i < orders.size(); ++i) {
      if (orders[i] > degree) continue;
      RecurrenceByTwo recurrence(degree);
      RecurrenceByTwo::Scratch scratch(degree);
      recurrence.prepare(orders[i], scratch);
      const gpu::SweepRow& row = made.rows[i];
      ASSERT_GE(row.n_steps, recurrence.n_steps());
      for (std::int64_t k = 0; k < recurrence.n_steps(); ++k) {
        const gpu::Double2* step = &made.coefficients[to_size(2 * (row.coefficients + k))];
        const double* host = recurrence.coefficients() + 3 * k;
        ASSERT_EQ(made.alpha[to_size(row.coefficients + k)], recurrence.alpha()[k]) << k;
        ASSERT_EQ(step[0].x, host[0]) << orders[i] << " " << k;
        ASSERT_EQ(step[1].x, host[0]) << orders[i] << " " << k;
        // The compiler chooses which operations of e1^2 + e2^2 are fused.
        ASSERT_NEAR(step[0].y, host[1], 4e-16 * std::fabs(host[0])) << orders[i] << " " << k;
        ASSERT_NEAR(step[1].y, host[2], 4e-16 * std::fabs(host[0])) << orders[i] << " " << k;
      }
    }
  }
}

TEST(EmulatedMemory, CoefficientsOfABatchAreThoseOfAll) {
  for (const Fold fold : {Fold::no, Fold::yes}) {
    const LegendreProblem problem(RingGrid::healpix(10), 134, 60, {0, 2, 0}, fold);
    EmulatedStage kept(problem);
    EmulatedStage in_batches(problem, {.workspace_bytes = 100000, .coefficient_bytes = 0});
    const auto alm = random_values(problem.alm_size(), 61);
    const auto modes = random_values(problem.modes_size(), 62);
    EXPECT_EQ(in_batches.synthesize(alm), kept.synthesize(alm));
    EXPECT_EQ(in_batches.adjoint(modes), kept.adjoint(modes));
    EXPECT_LT(in_batches.device_bytes(), kept.device_bytes());
  }
}

void expect_no_barrier_missing(const std::vector<int>& spins, BatchedSums sums) {
  const LegendreProblem problem(RingGrid::healpix(9), 110, 44, spins, Fold::yes);
  EmulatedStage in_step(problem, {}, sums);
  EmulatedStageOn<gpu::WarpwiseMachine> warpwise(problem, {}, sums);
  const auto alm = random_values(problem.alm_size(), 63);
  const auto modes = random_values(problem.modes_size(), 64);
  EXPECT_EQ(warpwise.synthesize(alm), in_step.synthesize(alm));
  EXPECT_EQ(warpwise.adjoint(modes), in_step.adjoint(modes));
  EXPECT_TRUE(warpwise.barriers_agree());
}
TEST(EmulatedMemory, NoBarrierIsMissing) {
  for (const std::vector<int>& spins :
       {std::vector<int>{0}, std::vector<int>{0, 2, 0}, std::vector<int>{0, 0}}) {
    expect_no_barrier_missing(spins, BatchedSums::by_threads);
  }
  for (const std::vector<int>& spins : {std::vector<int>{0, 0}, std::vector<int>{0, 2, 0}}) {
    expect_no_barrier_missing(spins, BatchedSums::by_matrices);
  }
}

TEST(DeviceBytes, AreThoseTheStageAllocates) {
  for (const std::vector<int>& spins : {std::vector<int>{0}, std::vector<int>{0, 2, 0, 0, 0}}) {
    const LegendreProblem problem(RingGrid::healpix(32), 64, 64, spins, Fold::yes);
    for (const BatchedSums sums :
         {BatchedSums::by_threads, BatchedSums::by_matrices, BatchedSums::as_measured}) {
      const EmulatedStage emulated(problem, {}, sums);
      EXPECT_EQ(device_legendre_bytes(shape_of(problem), sums), emulated.device_bytes());
    }
  }
}

/// Processes rows in blocks, as on a device with little memory.
struct InBlocks {
  InBlocks(const LegendreProblem& of, std::int64_t most_bytes)
      : problem(of),
        n_components(of.fields.n_components()),
        blocks(shape_of(of), most_bytes),
        stage(of, packed(), blocks.alm_begin()),
        alm(to_size(blocks.alm_size() * n_components)),
        modes(to_size(blocks.n_positions() * n_components)) {}

  LegendreShape packed() const {
    LegendreShape shape = shape_of(problem);
    shape.rows = blocks.layout();
    return shape;
  }
  template <class Work>
  void for_each_block(RowRange rows, const Work& work) {
    for (std::int64_t b = 0; b < blocks.size(); ++b) {
      const RowRange heads{std::max(blocks.heads(b).begin, rows.begin),
                           std::min(blocks.heads(b).end, rows.end)};
      if (heads.begin >= heads.end) continue;
      const auto alm_run = blocks.alm_of(heads);
      const auto modes_run = blocks.modes_of(heads);
      EXPECT_LE(alm_run.end, blocks.alm_size());
      EXPECT_LE(modes_run.end, blocks.n_positions());
      work(heads);
    }
  }
  void synthesize(const std::vector<Complex>& from, std::vector<Complex>& to, RowRange rows) {
    for_each_block(rows, [&](RowRange heads) {
      blocks.gather<double>(heads, {from.data(), n_components, problem.alm_layout.size()},
                            alm.data());
      stage.synthesize(alm.data(), blocks.alm_size(), modes.data(), heads);
      blocks.scatter(heads, modes.data(), problem.rows, LegendreProblem::view(to));
    });
  }
  void adjoint(const std::vector<Complex>& from, std::vector<Complex>& to, RowRange rows) {
    for_each_block(rows, [&](RowRange heads) {
      blocks.gather(heads, problem.rows, ModeView<const double>(from.data(), ssize64(from)),
                    modes.data());
      stage.adjoint(modes.data(), alm.data(), blocks.alm_size(), Accumulate::overwrite, heads);
      blocks.scatter<double>(heads, alm.data(),
                             {to.data(), n_components, problem.alm_layout.size()});
    });
  }

  const LegendreProblem& problem;
  std::int64_t n_components;
  RowBlocks blocks;
  EmulatedStage stage;
  std::vector<Complex> alm;
  std::vector<Complex> modes;
};

class BlocksOfRows : public testing::TestWithParam<Fold> {};

TEST_P(BlocksOfRows, GiveWhatTheWholeGives) {
  const LegendreProblem problem(RingGrid::healpix(8), 80, 60, {0, 2}, GetParam());
  EmulatedStage whole(problem);
  const auto alm = random_values(problem.alm_size(), 65);
  const auto modes = random_values(problem.modes_size(), 66);
  for (const std::int64_t bytes : {std::int64_t{1}, std::int64_t{200000}, std::int64_t{1} << 30}) {
    InBlocks in_blocks(problem, bytes);
    std::vector<Complex> synthesized(to_size(problem.modes_size()));
    std::vector<Complex> back(to_size(problem.alm_size()));
    for (const auto& [begin, end] : {std::pair{0, 7}, std::pair{7, 61}}) {
      in_blocks.synthesize(alm, synthesized, {begin, end});
      in_blocks.adjoint(modes, back, {begin, end});
    }
    EXPECT_EQ(synthesized, whole.synthesize(alm)) << bytes;
    EXPECT_EQ(back, whole.adjoint(modes)) << bytes;
    EXPECT_EQ(in_blocks.blocks.size() == 1, bytes > 1 << 28);
  }
}
INSTANTIATE_TEST_SUITE_P(Legendre, BlocksOfRows, testing::Values(Fold::no, Fold::yes),
                         [](const auto& of) {
                           return of.param == Fold::yes ? "folded" : "unfolded";
                         });

TEST(RowBlocks, HoldRowsWithThoseThatFoldIntoThemWithinTheirBytes) {
  const LegendreProblem problem(RingGrid::healpix(8), 80, 60, {0, 2}, Fold::yes);
  constexpr std::int64_t bytes = 60000;
  const RowBlocks blocks(shape_of(problem), bytes);
  EXPECT_GT(blocks.size(), 2);
  EXPECT_LE(16 * problem.fields.n_components() * (blocks.alm_size() + blocks.n_positions()),
            2 * bytes);
  std::int64_t next = 0;
  for (std::int64_t b = 0; b < blocks.size(); ++b) {
    EXPECT_EQ(blocks.heads(b).begin, next);
    next = blocks.heads(b).end;
    const std::int64_t values =
        blocks.alm_of(blocks.heads(b)).size() + blocks.modes_of(blocks.heads(b)).size();
    EXPECT_LE(16 * problem.fields.n_components() * values, bytes);
  }
  EXPECT_EQ(next, problem.alm_layout.n_orders());
}

/// The same rows in three segments each, the southern one first, with gaps.
ModeLayout rearranged(const ModeLayout& rows) {
  ModeLayout made;
  std::int64_t position = 3;
  for (const ModeLayout::Row& row : rows.rows()) {
    made.begin_row(row.m);
    if (row.fold_into >= 0) made.fold_row(row.fold_into, row.fold_rings);
    const auto segments = rows.segments(row);
    for (auto segment = segments.rbegin(); segment != segments.rend(); ++segment) {
      const RingRange rings = segment->rings;
      const std::int64_t middle = rings.begin + rings.size() / 3;
      for (const RingRange& part : {RingRange{middle, rings.end}, RingRange{rings.begin, middle}}) {
        made.add_segment(part, position);
        position += part.size() + 1;
      }
    }
  }
  made.set_size(position);
  return made;
}

TEST(RowBlocks, AreTheSameWhereverAUserHasItsModes) {
  for (const Fold fold : {Fold::no, Fold::yes}) {
    const LegendreProblem problem(RingGrid::healpix(4), 40, 30, {0, 2}, fold);
    const ModeLayout other = rearranged(problem.rows);
    const std::int64_t n_components = problem.fields.n_components();
    const RowBlocks blocks(shape_of(problem), 20000);
    ASSERT_GT(blocks.size(), 1);
    blocks.require_same_modes(other);

    auto modes = random_values(problem.modes_size(), 67);
    std::vector<Complex> elsewhere(to_size(other.size() * n_components));
    const std::int64_t border =
        other.segments(other.rows()[other.rows().size() / 2]).front().first * n_components;
    const ModePieces<double> in_two_pieces(
        {elsewhere.data(), border}, {elsewhere.data() + border, ssize64(elsewhere) - border});
    std::vector<Complex> back(modes.size());
    std::vector<Complex> block(to_size(blocks.n_positions() * n_components));
    for (std::int64_t b = 0; b < blocks.size(); ++b) {
      blocks.gather(blocks.heads(b), problem.rows, LegendreProblem::view(modes), block.data());
      blocks.scatter(blocks.heads(b), block.data(), other, in_two_pieces);
    }
    for (std::int64_t b = 0; b < blocks.size(); ++b) {
      blocks.gather(blocks.heads(b), other, in_two_pieces, block.data());
      blocks.scatter(blocks.heads(b), block.data(), problem.rows, LegendreProblem::view(back));
    }
    EXPECT_EQ(back, modes);

    LegendreShape shape = shape_of(problem);
    shape.rows = other;
    const RowBlocks of_other(shape, 20000);
    EXPECT_EQ(of_other.alm_begin(), blocks.alm_begin());
    EXPECT_EQ(of_other.n_positions(), blocks.n_positions());
  }
}

TEST(RowBlocks, RefuseRowsOfOtherRings) {
  const LegendreProblem problem(RingGrid::healpix(4), 12, 12, {0});
  const RowBlocks blocks(shape_of(problem), 1000);
  EXPECT_THROW(blocks.require_same_modes(ModeLayout()), UsageError);
  ModeLayout shorter;
  for (const ModeLayout::Row& row : problem.rows.rows()) {
    shorter.begin_row(row.m);
    const RowSegment segment = problem.rows.segments(row).front();
    shorter.add_segment({segment.rings.begin, segment.rings.end - 1}, segment.first);
  }
  shorter.set_size(problem.rows.size());
  EXPECT_THROW(blocks.require_same_modes(shorter), UsageError);
}

TEST(RowBlocks, ARankWithoutOrdersHasNone) {
  const LegendreProblem problem(RingGrid::healpix(4), 12, 12, {0});
  LegendreShape shape = shape_of(problem);
  shape.alm = AlmLayout(12, 12, {});
  shape.rows = ModeLayout();
  const RowBlocks blocks(shape, 1000);
  EXPECT_EQ(blocks.size(), 0);
  EXPECT_EQ(legendre_block_bytes(shape).pinned_bytes, 0);
}

TEST(DeviceBytes, FollowWhatAStageMayTake) {
  const LegendreProblem problem(RingGrid::healpix(256), 512, 512, {0, 2});
  LegendreShape shape = shape_of(problem);
  const std::int64_t usual = legendre_block_bytes(shape).device_bytes;
  for (const std::int64_t most : {std::int64_t{64} << 20, std::int64_t{16} << 20}) {
    shape.device_bytes = most;
    EXPECT_LE(legendre_block_bytes(shape).device_bytes, most);
    EXPECT_LT(legendre_block_bytes(shape).device_bytes, usual);
  }
}

/// All orders of one rank.
LegendreShape scalar_shape(int nside, int lmax) {
  const auto grid = std::make_shared<const RingGrid>(RingGrid::healpix(nside));
  const ModeLimits limits(*grid, lmax, lmax, 0);
  ModeLayout rows;
  std::int64_t position = 0;
  for (int m = 0; m <= lmax; ++m) {
    rows.begin_row(m);
    rows.add_segment(limits.kept(m), position);
    position += limits.kept(m).size();
  }
  rows.set_size(position);
  return {grid, limits, {}, AlmLayout(lmax, lmax), rows, FieldSet({0})};
}

TEST(DeviceMemory, OneLaunchSweepsAllOrdersOfAMapAtDegree4096) {
  gpu::CountingMachine machine;
  const gpu::StagePlan<gpu::CountingMachine> plan(scalar_shape(2048, 4096), machine, {}, {},
                                                  usual_sums);
  EXPECT_EQ(plan.n_batches(), 1);
}

// 10 GB of coefficients, 32 GB of a_lm and modes.
TEST(DeviceBytes, AreBoundedAtTheLargestDegrees) {
  const LegendreShape shape = scalar_shape(16384, 32768);
  EXPECT_GT(shape.rows.size() + shape.alm.size(), std::int64_t{1'500'000'000});
  const BlockBytes bytes = legendre_block_bytes(shape);
  EXPECT_LE(bytes.pinned_bytes, std::int64_t{2} * 200 << 20);
  EXPECT_LE(bytes.device_bytes, std::int64_t{2} << 30);
}

}  // namespace
}  // namespace ringweave::detail
