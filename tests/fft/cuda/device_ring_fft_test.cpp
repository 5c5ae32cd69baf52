// SPDX-License-Identifier: GPL-3.0-or-later
#include "fft/device_ring_fft.hpp"

#include <gtest/gtest.h>

#include <string>

#include "base/checked_cast.hpp"
#include "base/device_buffer.hpp"
#include "fft/cuda/ring_blocks.hpp"
#include "fft/ring_problem.hpp"
#include "ringweave/execution.hpp"

// The device ring FFT on a device, against the host's.
namespace ringweave::detail {
namespace {

using Complex = std::complex<double>;

class DeviceRingTest : public testing::Test {
 protected:
  void SetUp() override {
    if (device_count() == 0) GTEST_SKIP() << "no CUDA device: " << device_unavailable_reason();
    choose_device(0);
  }
};

void expect_both_ways_equal(const RingFftShape& shape, const std::string& what) {
  const auto host = make_ring_fft(shape, Backend::host);
  const auto device = make_ring_fft(shape, Backend::cuda);
  const auto modes = random_modes(shape, 71);
  const auto pixels = random_map(shape, 72);
  std::vector<double> weights(to_size(shape.rings.n_rings()), 1.5);
  std::vector<double> wanted_map(pixels.size());
  std::vector<double> map(pixels.size());
  host->synthesize(view(modes), map_view(shape, wanted_map));
  device->synthesize(view(modes), map_view(shape, map));
  EXPECT_LE(difference(map, wanted_map).rms, tolerance::direct_sum) << what;
  std::vector<Complex> wanted(modes.size(), {5, 7});
  auto found = wanted;
  host->adjoint(map_view(shape, pixels), weights, view(wanted));
  device->adjoint(map_view(shape, pixels), weights, view(found));
  EXPECT_LE(difference(found, wanted).rms, tolerance::direct_sum) << what;

  std::vector<float> narrow(map.size());
  device->synthesize(view(modes), map_view(shape, narrow));
  EXPECT_LE(difference(narrow, wanted_map).rms, tolerance::single_storage) << what;
  auto again = found;
  device->adjoint(map_view(shape, pixels), weights, view(again));
  EXPECT_EQ(again, found) << what << ": an adjoint depends on the moment";
}

TEST_F(DeviceRingTest, AreTheHostsInASmallCase) {
  expect_both_ways_equal(dense_shape(RingGrid::healpix(8), 23, 2), "nside 8");
}

TEST_F(DeviceRingTest, AreTheHostsOnEveryGrid) {
  for (const char* grid :
       {"healpix:1", "healpix:3", "healpix:16", "healpix:64", "gauss:40", "gauss:9,21", "gauss:9,1",
        "gauss:9,2", "clenshaw:33,202", "fejer:20,37"}) {
    for (const int lmax : {0, 1, 5, 127, 256}) {
      expect_both_ways_equal(dense_shape(RingGrid::from_name(grid), lmax, 2),
                             grid + std::string(" ") + std::to_string(lmax));
    }
  }
}

TEST_F(DeviceRingTest, AreTheHostsForBatchesAndForOneRankAmongMany) {
  for (const std::int64_t n_components : {1, 3, 8}) {
    expect_both_ways_equal(dense_shape(RingGrid::healpix(32), 80, n_components),
                           std::to_string(n_components));
  }
  expect_both_ways_equal(ranks_share(), "share");
}

TEST_F(DeviceRingTest, AreTheHostsOnAMapOfManyLengths) {
  expect_both_ways_equal(dense_shape(RingGrid::healpix(512), 1023, 1), "nside 512");
}

// Copies in and out of a block overlap with the computation of others.
TEST_F(DeviceRingTest, AreTheHostsInBlocksSmallCase) {
  for (RingFftShape shape : {dense_shape(RingGrid::healpix(8), 23, 2), ranks_share()}) {
    const BlockBytes whole = ring_fft_block_bytes(shape);
    shape.device_bytes = whole.device_bytes;
    while (ssize64(blocks_that_fit(shape, shape.device_bytes).blocks) < 4)
      shape.device_bytes -= whole.device_bytes / 64;
    const BlockBytes planned = ring_fft_block_bytes(shape);
    EXPECT_LT(planned.pinned_bytes, whole.pinned_bytes);
    EXPECT_LE(planned.device_bytes, shape.device_bytes);
    EXPECT_LE(make_ring_fft(shape, Backend::cuda)->bytes(),
              planned.device_bytes + planned.pinned_bytes);
    expect_both_ways_equal(shape, "in blocks");
  }
}

TEST_F(DeviceRingTest, AreTheSameWhateverTheWorkspace) {
  const RingFftShape shape = dense_shape(RingGrid::healpix(32), 95, 2);
  const DeviceStream stream;
  const auto modes = random_modes(shape, 73);
  DeviceBuffer<Complex> modes_there(ssize64(modes));
  copy_to_device(modes.data(), modes_there.data(), modes_there.bytes(), stream);
  DeviceBuffer<double> map_there(shape.rings.n_pixels() * 2);
  std::vector<double> first;
  for (const std::int64_t bytes : {ring_fft_workspace_bytes, std::int64_t{50000}}) {
    const auto fft = make_device_ring_fft(shape, stream, bytes);
    EXPECT_LE(fft->device_bytes(), device_ring_fft_bytes(shape, bytes));
    fft->synthesize(modes_there.view(), MapView<double, MemorySpace::device>(
                                            map_there.data(), 2, shape.rings.n_pixels()));
    std::vector<double> map(to_size(map_there.size()));
    copy_to_host(map_there.data(), map.data(), map_there.bytes(), stream);
    stream.synchronize();
    if (first.empty()) first = map;
    EXPECT_LE(difference(map, first).rms, tolerance::rank_invariance);
  }
}

}  // namespace
}  // namespace ringweave::detail
