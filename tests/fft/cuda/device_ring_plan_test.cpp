// SPDX-License-Identifier: GPL-3.0-or-later
#include "fft/cuda/device_ring_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/checked_cast.hpp"
#include "fft/cuda/emulated_ring_fft.hpp"
#include "fft/cuda/ring_blocks.hpp"
#include "fft/device_ring_fft.hpp"
#include "ringweave/error.hpp"
#include "ringweave/execution.hpp"

namespace ringweave::detail {
namespace {

using gpu::DeviceRingPlan;
using gpu::RingBatch;

TEST(DeviceRingPlan, PadsToTheLeastPowerOfTwoOrThreeTimesOne) {
  EXPECT_EQ(gpu::chirp_row_length(1), 512);
  EXPECT_EQ(gpu::chirp_row_length(256), 512);
  EXPECT_EQ(gpu::chirp_row_length(257), 768);
  EXPECT_EQ(gpu::chirp_row_length(384), 768);
  EXPECT_EQ(gpu::chirp_row_length(385), 1024);
  EXPECT_EQ(gpu::chirp_row_length(2046), 4096);
  EXPECT_EQ(gpu::chirp_row_length(2049), 6144);
  EXPECT_EQ(gpu::chirp_row_length(65534), 131072);
}

// Rings of even length are transformed two pixels at a time.
TEST(DeviceRingPlan, LeavesLargePrimesToItsOwnChirps) {
  const auto has_chirps = [](std::int64_t n_phi) {
    const DeviceRingPlan plan(dense_shape(RingGrid::gauss_legendre(20, n_phi), 19, 1), 1 << 20);
    return plan.batches.front().has_chirps();
  };
  EXPECT_FALSE(has_chirps(127));
  EXPECT_FALSE(has_chirps(2 * 127 * 3));
  EXPECT_TRUE(has_chirps(131));
  EXPECT_TRUE(has_chirps(4 * 131));
}

void expect_sound(const RingFftShape& shape, std::int64_t workspace_bytes) {
  const DeviceRingPlan plan(shape, workspace_bytes);
  std::multiset<std::int64_t> owned;
  std::int64_t next = 0;
  for (const RingBatch& batch : plan.batches) {
    EXPECT_EQ(batch.first_ring, next);
    next += batch.n_rings;
    const std::int64_t n_rows = batch.n_rings * shape.n_components;
    const gpu::FftSize rows_fft = plan.ffts[to_size(batch.rows_fft)];
    EXPECT_EQ(rows_fft.length, batch.row_length);
    if (batch.has_chirps()) {
      EXPECT_EQ(rows_fft.count, n_rows);
      EXPECT_EQ(batch.first_chirp_row, n_rows);
      const gpu::FftSize chirps = plan.ffts[to_size(batch.chirps_fft)];
      EXPECT_EQ(chirps.count, batch.n_chirps);
      EXPECT_LE((batch.first_chirp_row + chirps.count) * batch.row_length, plan.workspace_values);
    } else {
      EXPECT_EQ(rows_fft.count, batch.n_rings);
      EXPECT_LE(n_rows * batch.row_length, plan.workspace_values);
    }
    for (std::int64_t i = 0; i < batch.n_rings; ++i) {
      const gpu::PlannedRing& ring = plan.rings[to_size(batch.first_ring + i)];
      owned.insert(ring.local);
      EXPECT_LE(ring.n_complex, batch.longest);
      EXPECT_LE(batch.longest, batch.row_length);
      EXPECT_EQ(ring.chirp >= 0, batch.has_chirps());
      if (!batch.has_chirps()) {
        EXPECT_EQ(ring.n_complex, batch.row_length);
        continue;
      }
      EXPECT_LE(2 * ring.n_complex - 1, batch.row_length);
      EXPECT_EQ(plan.chirp_lengths[to_size(batch.first_chirp + ring.chirp)].n_complex,
                ring.n_complex);
    }
  }
  EXPECT_EQ(next, shape.rings.n_rings());
  EXPECT_EQ(ssize64(owned), shape.rings.n_rings());
  for (std::int64_t i = 0; i < shape.rings.n_rings(); ++i) EXPECT_EQ(owned.count(i), 1U);
}

TEST(DeviceRingPlan, TakesEveryRingOnceWithinItsWorkspace) {
  for (const std::int64_t bytes : {1, 10000, 1000000, 100000000}) {
    expect_sound(dense_shape(RingGrid::healpix(40), 20, 3), bytes);
    expect_sound(dense_shape(RingGrid::from_name("gauss:40"), 20, 2), bytes);
    expect_sound(ranks_share(), bytes);
  }
}

TEST(DeviceRingPlan, SendsTheBeltThroughTheMapItself) {
  const DeviceRingPlan plan(dense_shape(RingGrid::healpix(16), 20, 1), 1 << 26);
  ASSERT_FALSE(plan.batches.front().has_chirps());
  EXPECT_TRUE(plan.batches.front().pixels_are_rows);
  EXPECT_EQ(plan.batches.front().n_rings, 33);
  EXPECT_EQ(plan.batches.front().row_length, 32);
  // A band and its mirror are adjacent in the memory of their rank.
  const DeviceRingPlan share(ranks_share(), 1 << 26);
  EXPECT_EQ(share.batches.front().n_rings, 12);
  EXPECT_TRUE(share.batches.front().pixels_are_rows);
}

TEST(DeviceRingPlan, OfALargeMapIsSmallAndTakesFewFftPlans) {
  // The rows of one order alone; only the rings matter.
  const auto grid = std::make_shared<const RingGrid>(RingGrid::healpix(8192));
  ModeLayout rows;
  rows.begin_row(0);
  rows.add_segment({0, grid->n_rings()}, 0);
  rows.set_size(grid->n_rings());
  const RingFftShape shape{LocalRings(grid), rows, 1};
  const DeviceRingPlan plan(shape, ring_fft_workspace_bytes);
  EXPECT_LE(ssize64(plan.ffts), 40);
  EXPECT_LE(plan.workspace_values * 16, ring_fft_workspace_bytes);
  EXPECT_LE(plan.table_bytes(), std::int64_t{64} << 20);
  EXPECT_EQ(device_ring_fft_bytes(shape), plan.table_bytes() + 32 * plan.workspace_values);
}

TEST(DeviceRingPlan, KnowsWhatTheDeviceWillHold) {
  for (const RingFftShape& shape : {dense_shape(RingGrid::healpix(16), 50, 2), ranks_share()}) {
    const DeviceRingPlan plan(shape, 30000);
    const std::int64_t of_emulated_ffts = 8;
    EXPECT_EQ(EmulatedRingFft(shape, 30000).bytes(),
              plan.table_bytes() + 16 * plan.workspace_values + of_emulated_ffts);
  }
}

TEST(DeviceRingPlan, RefusesRowsThatLeaveTheBuffer) {
  RingFftShape shape = dense_shape(RingGrid::healpix(2), 5, 1);
  shape.rows.set_size(shape.rows.size() - 1);
  EXPECT_THROW(DeviceRingPlan(shape, 1000), UsageError);
}

/// Runs both directions block by block on the host.
void expect_blocks_make_the_whole(const RingFftShape& shape, std::int64_t n_blocks) {
  const auto modes = random_modes(shape, 61);
  const auto pixels = random_map(shape, 62);
  const auto whole = make_ring_fft(shape, Backend::host);
  const std::complex<double> mark{12345, -54321};
  std::vector<double> wanted(pixels.size());
  std::vector<std::complex<double>> wanted_back(modes.size(), mark);
  whole->synthesize(view(modes), map_view(shape, wanted));
  whole->adjoint(map_view(shape, pixels), {}, view(wanted_back));

  std::vector<double> map(pixels.size());
  std::vector<std::complex<double>> back(modes.size(), mark);
  const std::int64_t n = shape.n_components;
  std::int64_t next_ring = 0;
  for (const DeviceRings& block : cut_rings(shape, n_blocks)) {
    EXPECT_EQ(block.first_ring, next_ring);
    next_ring += block.shape.rings.n_rings();
    std::vector<std::complex<double>> part(to_size(block.shape.rows.size() * n));
    for (const PositionRun& run : block.runs) {
      std::copy_n(modes.begin() + run.from * n, run.count * n, part.begin() + run.to * n);
    }
    const auto fft = make_ring_fft(block.shape, Backend::host);
    const std::int64_t n_pixels = block.shape.rings.n_pixels();
    const auto offset = block.first_pixel;
    const std::int64_t stride = shape.rings.n_pixels();
    fft->synthesize(view(part), MapView<double>(map.data() + offset, n, n_pixels, stride));
    fft->adjoint(MapView<const double>(pixels.data() + offset, n, n_pixels, stride), {},
                 view(part));
    for (const PositionRun& run : block.runs) {
      std::copy_n(part.begin() + run.to * n, run.count * n, back.begin() + run.from * n);
    }
  }
  EXPECT_EQ(next_ring, shape.rings.n_rings());
  EXPECT_EQ(map, wanted) << n_blocks;
  EXPECT_EQ(back, wanted_back) << n_blocks;
}

TEST(RingBlocks, MakeTheWholeToTheLastBit) {
  for (const std::int64_t n_blocks : {1, 2, 3, 7, 24, 200}) {
    expect_blocks_make_the_whole(dense_shape(RingGrid::healpix(16), 70, 2), n_blocks);
    expect_blocks_make_the_whole(ranks_share(), n_blocks);
  }
}

TEST(RingBlocks, OfOneTakeModesWithoutPaddingInOneCopy) {
  const RingFftShape shape = dense_shape(RingGrid::healpix(8), 20, 1);
  const std::vector<DeviceRings> blocks = cut_rings(shape, 1);
  ASSERT_EQ(ssize64(blocks), 1);
  ASSERT_EQ(ssize64(blocks.front().runs), 1);
  EXPECT_EQ(blocks.front().runs.front().count, shape.rows.size());
}

TEST(RingBlocks, AreAsFewAsTheDeviceAllows) {
  const RingFftShape shape = dense_shape(RingGrid::healpix(512), 1023, 1);
  EXPECT_EQ(ssize64(blocks_that_fit(shape, std::int64_t{1} << 30).blocks), 1);
  const RingBlocks some = blocks_that_fit(shape, 75000000);
  EXPECT_GT(ssize64(some.blocks), 1);
  EXPECT_LE(ssize64(some.blocks), 16);
  EXPECT_THROW(blocks_that_fit(shape, 1000), ResourceError);
  EXPECT_EQ(ssize64(blocks_that_fit({LocalRings(shape.rings.shared_grid(), {}), {}, 1}, 0).blocks),
            1);
}

TEST(RingBlocks, TakePinnedMemoryThatIsBounded) {
  const RingFftShape shape = dense_shape(RingGrid::healpix(1024), 1536, 4);
  const RingBlocks planned = blocks_that_fit(shape, shape.device_bytes);
  EXPECT_GT(ssize64(planned.blocks), 2);
  EXPECT_LE(planned.bytes.pinned_bytes, 2 * usual_block_bytes);
  EXPECT_LE(planned.bytes.pinned_bytes, ring_fft_block_bytes(shape).device_bytes);
}

}  // namespace
}  // namespace ringweave::detail
