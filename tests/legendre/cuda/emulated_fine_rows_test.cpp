// SPDX-License-Identifier: GPL-3.0-or-later
#include "legendre/cuda/emulated_fine_rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/mode_view.hpp"
#include "legendre/device_legendre_stage.hpp"
#include "legendre/legendre_stage.hpp"
#include "ringweave/error.hpp"
#include "support/tolerance.hpp"

// FFTs in theta of a device stage whose modes are fine rows, emulated on the host.
namespace ringweave::detail {
namespace {

using gpu::RowBlocks;
using testing::HasSubstr;
using testing::ThrowsMessage;

void expect_those_of_the_host(const FineRowProblem& problem) {
  EmulatedFineRows emulated(problem);
  const std::string what = problem.grid->name() + ", lmax " +
                           std::to_string(problem.alm_layout.lmax()) + ", spin " +
                           std::to_string(problem.fields.fields().front().spin);
  const auto alm = random_values(problem.alm_size(), 81);
  EXPECT_LE(relative_error(emulated.synthesize(alm), problem.synthesize(alm)).rms,
            tolerance::direct_sum)
      << what;
  const auto modes = random_values(problem.modes_size(), 82);
  EXPECT_LE(relative_error(emulated.adjoint(modes), problem.adjoint(modes)).rms,
            tolerance::direct_sum)
      << what;
  // Below the spin there are no modes.
  if (problem.fields.fields().front().spin > problem.alm_layout.lmax()) return;
  EXPECT_LE(adjoint_gap(problem, emulated), 0.1 * tolerance::adjoint) << what;
}

TEST(EmulatedFineRows, AreThoseOfTheHost) {
  for (const std::vector<int>& spins : spin_batches) {
    for (const int lmax : {0, 1, 2, 5, 40}) {
      expect_those_of_the_host({plain_rows(rows_for(1.0, lmax), lmax, lmax), spins});
      expect_those_of_the_host({kaiser_bessel_rows(1.65, 8, lmax, lmax), spins});
    }
    const DeconvolvedRows rows = kaiser_bessel_rows(1.35, 12, 150, 70);
    expect_those_of_the_host({rows, spins});
    expect_those_of_the_host({some_rows(rows.n_rows), rows, spins});
  }
}

TEST(EmulatedFineRows, PartsAndGroupsOfColumnsChangeNothing) {
  const DeconvolvedRows rows = kaiser_bessel_rows(1.65, 8, 60, 55);
  const FineRowProblem problem(some_rows(rows.n_rows), rows, {3, 0, 1, 0, 2});
  const auto alm = random_values(problem.alm_size(), 83);
  const auto modes = random_values(problem.modes_size(), 84);
  EmulatedFineRows whole(problem);
  ASSERT_EQ(whole.n_parts(), 1);
  const auto synthesized = whole.synthesize(alm);
  const auto back = whole.adjoint(modes);
  for (const std::int64_t block_bytes : {std::int64_t{1}, std::int64_t{100000}}) {
    for (const std::int64_t theta_bytes : {std::int64_t{1}, std::int64_t{100000}}) {
      EmulatedFineRows in_parts(problem, block_bytes, {.theta_bytes = theta_bytes});
      EXPECT_GT(in_parts.n_parts(), 3);
      EXPECT_LT(in_parts.n_columns(), whole.n_columns());
      EXPECT_LT(in_parts.device_bytes(), whole.device_bytes());
      EXPECT_EQ(in_parts.synthesize(alm), synthesized) << block_bytes << ", " << theta_bytes;
      EXPECT_EQ(in_parts.adjoint(modes), back) << block_bytes << ", " << theta_bytes;
    }
  }
}

/// Returns the same rows, the southern half of each segment before its northern one, and modes of
/// the one layout in the other.
std::pair<ModeLayout, std::vector<Complex>> halves_swapped(const ModeLayout& rows,
                                                           const std::vector<Complex>& modes,
                                                           std::int64_t n_components) {
  ModeLayout swapped;
  std::vector<Complex> moved = modes;
  for (const ModeLayout::Row& row : rows.rows()) {
    swapped.begin_row(row.m);
    for (const auto& [rings, first] : rows.segments(row)) {
      const std::int64_t middle = (rings.begin + rings.end) / 2;
      const std::int64_t n_south = rings.end - middle;
      if (middle > rings.begin) swapped.add_segment({rings.begin, middle}, first + n_south);
      if (n_south > 0) swapped.add_segment({middle, rings.end}, first);
      const auto begin = modes.begin() + first * n_components;
      std::rotate_copy(begin, begin + (middle - rings.begin) * n_components,
                       begin + rings.size() * n_components, moved.begin() + first * n_components);
    }
  }
  swapped.set_size(rows.size());
  return {swapped, moved};
}

TEST(EmulatedFineRows, ModesOfAnOrderMayBeInSeveralSegments) {
  const FineRowProblem problem(kaiser_bessel_rows(1.65, 8, 40, 35), {0, 2});
  const std::int64_t n = problem.fields.n_components();
  EmulatedFineRows whole(problem);
  const auto alm = random_values(problem.alm_size(), 92);
  const auto modes = random_values(problem.modes_size(), 93);
  LegendreShape shape = problem.shape;
  const auto [rows, given] = halves_swapped(problem.rows, modes, n);
  shape.rows = rows;
  const gpu::StageMemory memory;
  EmulatedFineRows swapped(
      problem,
      gpu::FineRowPlan(shape, RowBlocks(shape, usual_block_bytes).all_heads(), memory.theta_bytes),
      memory, {});
  EXPECT_EQ(swapped.synthesize(alm), halves_swapped(problem.rows, whole.synthesize(alm), n).second);
  EXPECT_EQ(swapped.adjoint(given), whole.adjoint(modes));
}

TEST(EmulatedFineRows, ARankMayHaveNoOrders) {
  const FineRowProblem problem(plain_rows(16, 8, 8), {0});
  LegendreShape shape = problem.shape;
  shape.alm = AlmLayout(8, 8, {});
  shape.rows = ModeLayout();
  EXPECT_EQ(legendre_block_bytes(shape).pinned_bytes, 0);
  const gpu::FineRowPlan plan(shape, RowBlocks(shape, usual_block_bytes).all_heads(), 1 << 20);
  EXPECT_TRUE(plan.columns.empty());
}

TEST(EmulatedFineRows, SomeOrdersAloneAreThoseOfTheWhole) {
  const FineRowProblem problem(kaiser_bessel_rows(1.65, 8, 50, 44), {0, 2});
  EmulatedFineRows emulated(problem, 100000, {});
  ASSERT_GT(emulated.n_parts(), 2);
  const std::int64_t stride = problem.alm_layout.size();
  const auto alm = random_values(problem.alm_size(), 85);
  const auto modes = random_values(problem.modes_size(), 86);
  const std::vector<Complex> untouched(to_size(problem.modes_size()), Complex(7, 7));
  std::vector<Complex> in_turns = untouched;
  const auto before = random_values(problem.alm_size(), 87);
  auto sums = before;
  auto added = before;
  for (const auto& [begin, end] : {std::pair{0, 3}, std::pair{3, 20}, std::pair{20, 45}}) {
    emulated.synthesize(alm.data(), stride, in_turns.data(), {begin, end});
    emulated.adjoint(modes.data(), sums.data(), stride, Accumulate::add, {begin, end});
  }
  EXPECT_EQ(in_turns, emulated.synthesize(alm));
  emulated.adjoint(modes.data(), added.data(), stride, Accumulate::add, emulated.all());
  EXPECT_EQ(sums, added);

  std::vector<Complex> none = untouched;
  emulated.synthesize(alm.data(), stride, none.data(), {5, 5});
  EXPECT_EQ(none, untouched);
}

TEST(EmulatedFineRows, AFieldBesideOthersIsAsAlone) {
  const DeconvolvedRows rows = kaiser_bessel_rows(1.5, 10, 90, 90);
  const std::vector<int> spins{3, 0, 1};
  const FineRowProblem together(rows, spins);
  EmulatedFineRows of_all(together);
  const auto alm = random_values(together.alm_size(), 88);
  const auto modes = of_all.synthesize(alm);
  const auto given = random_values(together.modes_size(), 89);
  const auto back = of_all.adjoint(given);
  for (std::size_t f = 0; f < spins.size(); ++f) {
    const FineRowProblem alone(rows, {spins[f]});
    EmulatedFineRows of_one(alone);
    const FieldSet::Field& field = together.fields.fields()[f];
    const std::int64_t own = alone.fields.n_components();
    const auto first = alm.begin() + field.first_component * together.alm_layout.size();
    const auto modes_alone = of_one.synthesize({first, first + alone.alm_size()});
    std::vector<Complex> given_alone(modes_alone.size());
    std::vector<Complex> modes_beside(modes_alone.size());
    std::int64_t n_left_out = 0;
    together.for_each_mode([&](std::int64_t order, std::int64_t ring, std::int64_t mode) {
      const auto segments = alone.rows.segments(alone.rows.rows()[to_size(order)]);
      const RowSegment segment = segments.empty() ? RowSegment() : segments.front();
      for (std::int64_t c = 0; c < own; ++c) {
        const std::size_t at = to_size(mode + field.first_component + c);
        if (!segment.rings.contains(ring)) {
          ASSERT_EQ(modes[at], Complex()) << order << ", " << ring;
          ++n_left_out;
          continue;
        }
        const std::size_t place = to_size((segment.first + ring - segment.rings.begin) * own + c);
        given_alone[place] = given[at];
        modes_beside[place] = modes[at];
      }
    });
    EXPECT_EQ(n_left_out > 0, spins[f] < 3);
    EXPECT_LE(relative_error(modes_beside, modes_alone).rms, 0.1 * tolerance::direct_sum);
    const auto begin = back.begin() + field.first_component * together.alm_layout.size();
    EXPECT_LE(relative_error({begin, begin + alone.alm_size()}, of_one.adjoint(given_alone)).rms,
              0.1 * tolerance::direct_sum);
  }
}

// As a stage whose data are on the host.
TEST(EmulatedFineRows, BlocksOfRowsGiveWhatTheWholeGives) {
  const FineRowProblem problem(kaiser_bessel_rows(1.65, 8, 70, 60), {0, 2});
  EmulatedFineRows whole(problem);
  const auto alm = random_values(problem.alm_size(), 90);
  const auto modes = random_values(problem.modes_size(), 91);
  LegendreShape shape = problem.shape;
  shape.device_bytes = std::int64_t{2} << 20;
  const gpu::BlockMemory memory = gpu::memory_in_blocks(shape);
  const RowBlocks blocks(shape, memory.block_bytes);
  ASSERT_GT(blocks.size(), 2);
  LegendreShape packed = shape;
  packed.rows = blocks.layout();
  EmulatedFineRows stage(problem,
                         gpu::FineRowPlan(packed, blocks.all_heads(), memory.stage.theta_bytes),
                         memory.stage, blocks.alm_begin());
  const std::int64_t n = problem.fields.n_components();
  const std::int64_t size = problem.alm_layout.size();
  std::vector<Complex> block_alm(to_size(blocks.alm_size() * n));
  std::vector<Complex> block_modes(to_size(blocks.n_positions() * n));
  std::vector<Complex> synthesized(modes.size());
  std::vector<Complex> back(alm.size());
  for (std::int64_t b = 0; b < blocks.size(); ++b) {
    const RowRange heads = blocks.heads(b);
    blocks.gather<double>(heads, {alm.data(), n, size}, block_alm.data());
    stage.synthesize(block_alm.data(), blocks.alm_size(), block_modes.data(), heads);
    blocks.scatter(heads, block_modes.data(), problem.rows, LegendreProblem::view(synthesized));
    blocks.gather(heads, problem.rows, ModeView<const double>(modes.data(), ssize64(modes)),
                  block_modes.data());
    stage.adjoint(block_modes.data(), block_alm.data(), blocks.alm_size(), Accumulate::overwrite,
                  heads);
    blocks.scatter<double>(heads, block_alm.data(), {back.data(), n, size});
  }
  EXPECT_EQ(synthesized, whole.synthesize(alm));
  EXPECT_EQ(back, whole.adjoint(modes));

  const std::int64_t copied =
      2 * (blocks.alm_size() + blocks.n_positions()) * n * std::int64_t{sizeof(Complex)};
  const BlockBytes bytes = legendre_block_bytes(shape);
  EXPECT_EQ(bytes.pinned_bytes, copied);
  EXPECT_EQ(bytes.device_bytes, stage.device_bytes() + copied);
  EXPECT_LE(bytes.device_bytes, shape.device_bytes);
}

TEST(EmulatedFineRows, BytesAreThoseTheStageAllocates) {
  for (const std::vector<int>& spins : {std::vector<int>{0}, std::vector<int>{0, 2, 0, 1}}) {
    const DeconvolvedRows rows = kaiser_bessel_rows(1.65, 8, 60, 55);
    for (const FineRowProblem& problem :
         {FineRowProblem(rows, spins), FineRowProblem(some_rows(rows.n_rows), rows, spins)}) {
      EXPECT_EQ(device_legendre_bytes(problem.shape), EmulatedFineRows(problem).device_bytes());
    }
  }
}

TEST(EmulatedFineRows, WhatDoesNotFitIsAUsageError) {
  const RingGrid grid = RingGrid::fejer(16);
  const FineRowProblem problem(grid, plain_rows(16, 8, 8), {0});
  LegendreShape shape = problem.shape;
  shape.fine_rows = std::make_shared<const DeconvolvedRows>(plain_rows(18, 8, 8));
  EXPECT_THAT([&] { device_legendre_bytes(shape); },
              ThrowsMessage<UsageError>(HasSubstr("expected a multiple of 4 above lmax")));
  EXPECT_THAT([&] { legendre_block_bytes(shape); },
              ThrowsMessage<UsageError>(HasSubstr("expected a multiple of 4 above lmax")));
  shape.fine_rows = std::make_shared<const DeconvolvedRows>(plain_rows(20, 8, 8));
  EXPECT_THAT([&] { device_legendre_bytes(shape); },
              ThrowsMessage<UsageError>(HasSubstr("expected rings of fejer:20")));
}

TEST(EmulatedFineRows, OrdersThatFoldAreAUsageError) {
  const LegendreProblem folded(RingGrid::fejer(16, 8), 8, 8, {0}, LegendreProblem::Fold::yes);
  LegendreShape shape = shape_of(folded);
  shape.fine_rows = std::make_shared<const DeconvolvedRows>(plain_rows(16, 8, 8));
  EXPECT_THAT([&] { device_legendre_bytes(shape); },
              ThrowsMessage<UsageError>(HasSubstr("which fine rows on a device cannot do")));
}

}  // namespace
}  // namespace ringweave::detail
