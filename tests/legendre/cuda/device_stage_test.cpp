// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/block_pipeline.hpp"
#include "base/checked_cast.hpp"
#include "base/device.hpp"
#include "base/device_buffer.hpp"
#include "base/mode_view.hpp"
#include "legendre/cuda/blocks/row_blocks.hpp"
#include "legendre/cuda/emulated_stage.hpp"
#include "legendre/cuda/plan/fine_row_plan.hpp"
#include "legendre/cuda/plan/stage_memory.hpp"
#include "legendre/device_legendre_stage.hpp"
#include "legendre/fine_row_problem.hpp"
#include "ringweave/error.hpp"
#include "ringweave/execution.hpp"
#include "support/tolerance.hpp"

// The device stage on a device, against the host stage.
namespace ringweave::detail {
namespace {

class DeviceStage : public testing::Test {
 protected:
  void SetUp() override {
    if (device_count() == 0) GTEST_SKIP() << "no CUDA device: " << device_unavailable_reason();
    choose_device(0);
  }
};

void expect_both_ways_equal(const LegendreProblem& problem, const LegendreShape& shape,
                            const std::string& what) {
  const auto stage = make_legendre_stage(shape, Backend::cuda);
  const auto alm = random_values(problem.alm_size(), 51);
  const AlmView<const double> alm_view(alm.data(), problem.fields.n_components(),
                                       problem.alm_layout.size());
  std::vector<Complex> modes(to_size(problem.modes_size()));
  stage->synthesize(alm_view, LegendreProblem::view(modes));
  EXPECT_LE(relative_error(modes, problem.synthesize(alm)).rms, 1e-12) << what;

  modes = random_values(problem.modes_size(), 52);
  std::vector<Complex> back(alm.size());
  const AlmView<double> back_view(back.data(), problem.fields.n_components(),
                                  problem.alm_layout.size());
  const ModeView<const double> modes_view(modes.data(), ssize64(modes));
  stage->adjoint(modes_view, back_view, Accumulate::overwrite);
  EXPECT_LE(relative_error(back, problem.adjoint(modes)).rms, 1e-12) << what;

  std::vector<Complex> again(alm.size());
  stage->adjoint(modes_view,
                 AlmView<double>(again.data(), back_view.n_components(), back_view.size()),
                 Accumulate::overwrite);
  EXPECT_EQ(again, back) << what << ": an adjoint depends on the moment";
}

void expect_planned_bytes(const LegendreStage& stage, const LegendreShape& shape) {
  const BlockBytes planned = legendre_block_bytes(shape);
  EXPECT_EQ(stage.device_bytes(), planned.device_bytes);
  EXPECT_EQ(stage.bytes(), planned.pinned_bytes);
}

void expect_both_ways_equal(const LegendreProblem& problem, const std::string& what) {
  expect_both_ways_equal(problem, shape_of(problem), what);
}

// Short enough for tools that check every access.
TEST_F(DeviceStage, IsTheHostStageInASmallCase) {
  const LegendreProblem problem(RingGrid::healpix(9), 110, 44, {0, 2, 0},
                                LegendreProblem::Fold::yes);
  expect_both_ways_equal(problem, "small");
}

TEST_F(DeviceStage, IsTheHostStageForAllShapes) {
  for (const char* grid : {"healpix:3", "healpix:64", "gauss:41", "clenshaw:14", "fejer:6"}) {
    for (const int lmax : {0, 1, 2, 5, 32, 127, 256}) {
      for (const int spin : {0, 1, 2, 3}) {
        const LegendreProblem problem(RingGrid::from_name(grid), lmax, lmax, {spin});
        expect_both_ways_equal(problem, grid + std::to_string(lmax) + "s" + std::to_string(spin));
      }
    }
  }
}

TEST_F(DeviceStage, IsTheHostStageForBatches) {
  for (int count = 2; count <= 9; ++count) {
    const LegendreProblem problem(RingGrid::healpix(64), 150, 100,
                                  std::vector<int>(to_size(count), 0));
    expect_both_ways_equal(problem, std::to_string(count));
  }
  const LegendreProblem mixed(RingGrid::healpix(64), 150, 150, {0, 2, 2, 1, 0});
  expect_both_ways_equal(mixed, "mixed");
}

TEST_F(DeviceStage, IsTheHostStageWhereOrdersFold) {
  const LegendreProblem problem(RingGrid::healpix(32), 200, 200, {0, 2},
                                LegendreProblem::Fold::yes);
  expect_both_ways_equal(problem, "folded");
}

TEST_F(DeviceStage, IsTheHostStageAtHighDegrees) {
  const LegendreProblem problem(RingGrid::healpix(1024), 2047, 2047, {0});
  expect_both_ways_equal(problem, "lmax 2047");
}

// The device processes more than one block of rows.
TEST_F(DeviceStage, IsTheHostStageInBlocksOfRows) {
  const LegendreProblem problem(RingGrid::healpix(512), 1023, 1023, {0, 0, 2, 0});
  ASSERT_GT(16 * (problem.alm_size() + problem.modes_size()), usual_block_bytes);
  expect_both_ways_equal(problem, "blocks");

  const auto stage = make_legendre_stage(shape_of(problem), Backend::cuda);
  const auto modes = random_values(problem.modes_size(), 55);
  const auto before = random_values(problem.alm_size(), 56);
  auto alm = before;
  const AlmView<double> alm_view(alm.data(), problem.fields.n_components(),
                                 problem.alm_layout.size());
  const ModeView<const double> modes_view(modes.data(), ssize64(modes));
  for (const auto& [begin, end] : {std::pair{0, 100}, std::pair{100, 1024}}) {
    stage->adjoint(modes_view, alm_view, Accumulate::add, {begin, end});
  }
  auto expected = problem.adjoint(modes);
  for (std::size_t i = 0; i < alm.size(); ++i) expected[i] += before[i];
  EXPECT_LE(relative_error(alm, expected).rms, 1e-12);
  expect_planned_bytes(*stage, shape_of(problem));
}

TEST_F(DeviceStage, BlocksOfRowsInASmallCase) {
  const LegendreProblem problem(RingGrid::healpix(9), 110, 44, {0, 2, 2},
                                LegendreProblem::Fold::yes);
  LegendreShape shape = shape_of(problem);
  shape.device_bytes = std::int64_t{1} << 20;
  ASSERT_GT(gpu::RowBlocks(shape, gpu::memory_in_blocks(shape).block_bytes).size(), 2);
  expect_both_ways_equal(problem, shape, "small blocks");
}

// Several blocks, each of several groups of columns, the last of which is not full.
TEST_F(DeviceStage, FineRowsInASmallCase) {
  const DeconvolvedRows rows = kaiser_bessel_rows(1.5, 8, 40, 32);
  const FineRowProblem problem(some_rows(rows.n_rows), rows, {0, 2});
  LegendreShape shape = problem.shape;
  shape.device_bytes = 400000;
  const gpu::BlockMemory memory = gpu::memory_in_blocks(shape);
  const gpu::RowBlocks blocks(shape, memory.block_bytes);
  ASSERT_GT(blocks.size(), 2);
  const gpu::FineRowPlan plan(shape, blocks.all_heads(), memory.stage.theta_bytes);
  ASSERT_GT(blocks.heads(0).end * problem.fields.n_components(), plan.n_columns);
  ASSERT_NE(blocks.heads(0).end * problem.fields.n_components() % plan.n_columns, 0);
  expect_both_ways_equal(problem, shape, "fine rows");
  expect_both_ways_equal(problem, problem.shape, "fine rows in one block");
  expect_planned_bytes(*make_legendre_stage(shape, Backend::cuda), shape);
}

TEST_F(DeviceStage, FineRowsOfFieldsOfAllSpins) {
  const FineRowProblem problem(kaiser_bessel_rows(1.65, 12, 100, 90), {3, 0, 1, 0, 2});
  expect_both_ways_equal(problem, problem.shape, "fine rows of all spins");
}

TEST_F(DeviceStage, AStageWithOtherRowsTakesNoMoreOfTheDevice) {
  const LegendreProblem problem(RingGrid::healpix(64), 128, 128, {0, 2});
  const auto stage = make_legendre_stage(shape_of(problem), Backend::cuda);
  const std::int64_t free = device_memory().free_bytes;
  const auto other = stage->with_rows(problem.rows);
  EXPECT_EQ(device_memory().free_bytes, free);
  const auto modes = random_values(problem.modes_size(), 61);
  std::vector<Complex> alm(to_size(problem.alm_size()));
  other->adjoint(
      ModeView<const double>(modes.data(), ssize64(modes)),
      AlmView<double>(alm.data(), problem.fields.n_components(), problem.alm_layout.size()),
      Accumulate::overwrite);
  EXPECT_LE(relative_error(alm, problem.adjoint(modes)).rms, 1e-12);
}

TEST_F(DeviceStage, CoefficientsMadeThereAreThoseOfTheHost) {
  // Orders beyond those the host has tables for.
  const LegendreProblem problem(RingGrid::healpix(200), 600, 600, {0});
  expect_both_ways_equal(problem, "coefficients");
}

// The emulation runs the same code with loops in place of threads.
TEST_F(DeviceStage, IsItsEmulation) {
  const LegendreProblem problem(RingGrid::healpix(40), 63, 63, {0, 0, 2});
  EmulatedStage emulated(problem);
  const auto stage = make_legendre_stage(shape_of(problem), Backend::cuda);
  const auto alm = random_values(problem.alm_size(), 53);
  std::vector<Complex> modes(to_size(problem.modes_size()));
  stage->synthesize(
      AlmView<const double>(alm.data(), problem.fields.n_components(), problem.alm_layout.size()),
      LegendreProblem::view(modes));
  EXPECT_LE(relative_error(modes, emulated.synthesize(alm)).rms, tolerance::direct_sum);
}

void expect_works_there(const LegendreProblem& problem, const LegendreShape& shape) {
  const DeviceStream stream;
  const auto stage = make_device_legendre_stage(shape, stream);
  const std::int64_t n_components = problem.fields.n_components();
  const auto alm = random_values(problem.alm_size(), 54);
  DeviceBuffer<Complex> alm_there(problem.alm_size());
  DeviceBuffer<Complex> modes_there(problem.modes_size());
  copy_to_device(alm.data(), alm_there.data(), alm_there.bytes(), stream);
  stage->synthesize(AlmView<const double, MemorySpace::device>(alm_there.data(), n_components,
                                                               problem.alm_layout.size()),
                    modes_there.view());
  std::vector<Complex> modes(to_size(problem.modes_size()));
  copy_to_host(modes_there.data(), modes.data(), modes_there.bytes(), stream);
  stream.synchronize();
  EXPECT_LE(relative_error(modes, problem.synthesize(alm)).rms, 1e-12);
  EXPECT_EQ(stage->device_bytes(), device_legendre_bytes(shape));
}

TEST_F(DeviceStage, WorksOnDeviceMemoryWithoutTheHost) {
  const LegendreProblem problem(RingGrid::healpix(32), 64, 64, {0});
  expect_works_there(problem, shape_of(problem));
  const FineRowProblem fine(kaiser_bessel_rows(1.65, 8, 64, 64), {0, 1});
  expect_works_there(fine, fine.shape);
}

void expect_equal_by_matrices(const LegendreProblem& problem) {
  const DeviceStream stream;
  const auto stage =
      make_device_legendre_stage(shape_of(problem), stream, BatchedSums::by_matrices);
  const std::int64_t n_components = problem.fields.n_components();
  DeviceBuffer<Complex> alm_there(problem.alm_size());
  DeviceBuffer<Complex> modes_there(problem.modes_size());
  const AlmView<Complex::value_type, MemorySpace::device> alm_view(alm_there.data(), n_components,
                                                                   problem.alm_layout.size());
  auto alm = random_values(problem.alm_size(), 59);
  auto modes = random_values(problem.modes_size(), 60);
  const auto host_alm = problem.adjoint(modes);
  const auto host_modes = problem.synthesize(alm);
  copy_to_device(modes.data(), modes_there.data(), modes_there.bytes(), stream);
  stage->adjoint(modes_there.view(), alm_view, Accumulate::overwrite);
  std::vector<Complex> back(alm.size());
  copy_to_host(alm_there.data(), back.data(), alm_there.bytes(), stream);
  copy_to_device(alm.data(), alm_there.data(), alm_there.bytes(), stream);
  stage->synthesize(alm_view, modes_there.view());
  copy_to_host(modes_there.data(), modes.data(), modes_there.bytes(), stream);
  stream.synchronize();
  EXPECT_LE(relative_error(back, host_alm).rms, 1e-12) << n_components;
  EXPECT_LE(relative_error(modes, host_modes).rms, 1e-12) << n_components;
}

TEST_F(DeviceStage, IsTheHostStageWithSumsByMatrices) {
  for (const std::vector<int>& spins :
       {std::vector<int>{0, 0}, std::vector<int>{2}, std::vector<int>(9, 0)}) {
    expect_equal_by_matrices(LegendreProblem(RingGrid::healpix(64), 150, 100, spins));
  }
}

TEST_F(DeviceStage, SumsByMatricesInASmallCase) {
  expect_equal_by_matrices(
      LegendreProblem(RingGrid::healpix(9), 110, 44, {0, 0, 2}, LegendreProblem::Fold::yes));
}

// Every lane has all the ring pairs that it can have, and coefficients come in several tiles.
TEST_F(DeviceStage, OneOrderOfManyRingsInASmallCase) {
  for (int count = 1; count <= 4; ++count) {
    const LegendreProblem problem(RingGrid::healpix(130), 150, 0,
                                  std::vector<int>(to_size(count), 0));
    expect_both_ways_equal(problem, std::to_string(count));
    if (count % 2 == 0) expect_equal_by_matrices(problem);
  }
  // Wigner's functions next to the poles.
  expect_both_ways_equal(LegendreProblem(RingGrid::healpix(60), 300, 1, {2}), "spin");
}

// High degrees of few orders: scalar maps take steps of one degree near the equator.
TEST_F(DeviceStage, StepsOfOneDegreeInASmallCase) {
  for (int count = 1; count <= 4; ++count) {
    expect_both_ways_equal(
        LegendreProblem(RingGrid::healpix(4), 1000, 1, std::vector<int>(to_size(count), 0)),
        std::to_string(count));
  }
}

/// Exits with 0 when an invalid address makes the device fail with a single message.
void read_where_nothing_is() {
  const LegendreProblem problem(RingGrid::healpix(32), 64, 64, {0});
  const DeviceStream stream;
  const auto stage = make_device_legendre_stage(shape_of(problem), stream);
  DeviceBuffer<Complex> modes_there(problem.modes_size());
  const auto message_of = [](const auto& use) -> std::string {
    try {
      use();
    } catch (const ResourceError& error) {
      return error.what();
    }
    return "";
  };
  const std::string first = message_of([&] {
    const auto* nowhere = reinterpret_cast<const Complex*>(std::uintptr_t{4096});
    stage->synthesize(
        AlmView<const double, MemorySpace::device>(nowhere, 1, problem.alm_layout.size()),
        modes_there.view());
    stream.synchronize();
  });
  const std::string second = message_of([] { DeviceBuffer<double> buffer(8); });
  std::exit(first.find("no longer be used") != std::string::npos && second == first ? 0 : 1);
}

TEST_F(DeviceStage, AnIllegalAddressIsOneClearErrorFromThenOn) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(read_where_nothing_is(), testing::ExitedWithCode(0), "");
}

TEST_F(DeviceStage, IsReplayedAsAGraph) {
  const LegendreProblem problem(RingGrid::healpix(32), 64, 64, {0, 2});
  const DeviceStream stream;
  const auto stage = make_device_legendre_stage(shape_of(problem), stream);
  DeviceBuffer<Complex> alm_there(problem.alm_size());
  DeviceBuffer<Complex> modes_there(problem.modes_size());
  const auto synthesize = [&] {
    stage->synthesize(
        AlmView<const double, MemorySpace::device>(alm_there.data(), problem.fields.n_components(),
                                                   problem.alm_layout.size()),
        modes_there.view());
  };
  zero_device_memory(alm_there.data(), alm_there.bytes(), stream);
  synthesize();  // loads all kernels, which capture must not do
  DeviceGraph graph;
  graph.capture(stream, synthesize);
  for (const unsigned seed : {57U, 58U}) {
    const auto alm = random_values(problem.alm_size(), seed);
    copy_to_device(alm.data(), alm_there.data(), alm_there.bytes(), stream);
    graph.launch(stream);
    std::vector<Complex> modes(to_size(problem.modes_size()));
    copy_to_host(modes_there.data(), modes.data(), modes_there.bytes(), stream);
    stream.synchronize();
    EXPECT_LE(relative_error(modes, problem.synthesize(alm)).rms, 1e-12);
  }
}

}  // namespace
}  // namespace ringweave::detail
