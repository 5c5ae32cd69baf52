// SPDX-License-Identifier: GPL-3.0-or-later
#include "fft/cuda/emulated_ring_fft.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/checked_cast.hpp"
#include "ringweave/execution.hpp"
#include "sphere/mode_limits.hpp"
#include "support/warpwise_block.hpp"

// The launches of the device ring FFT, block by block on the host, against the host ring FFT.
namespace ringweave::detail {
namespace {

using Complex = std::complex<double>;

void expect_close(const Difference& gap, const std::string& what) {
  EXPECT_LE(gap.rms, tolerance::direct_sum) << what;
  EXPECT_LE(gap.max, tolerance::direct_sum * tolerance::max_over_rms) << what;
}

void expect_emulation_equal(const RingFftShape& shape, const std::string& what,
                            std::int64_t workspace_bytes = EmulatedRingFft::roomy) {
  const auto host = make_ring_fft(shape, Backend::host);
  EmulatedRingFft emulated(shape, workspace_bytes);
  const auto modes = random_modes(shape, 31);
  const auto pixels = random_map(shape, 32);
  std::vector<double> wanted_map(pixels.size());
  std::vector<double> map(pixels.size(), -77.0);
  host->synthesize(view(modes), map_view(shape, wanted_map));
  emulated.synthesize(modes, map_view(shape, map));
  expect_close(difference(map, wanted_map), what + " forward");

  std::vector<Complex> wanted(modes.size(), {5, 7});
  auto found = wanted;
  host->adjoint(map_view(shape, pixels), {}, view(wanted));
  emulated.adjoint(map_view(shape, pixels), {}, found);
  expect_close(difference(found, wanted), what + " back");
}

/// Rows of one rank with the modes that are not negligible.
RingFftShape pruned_shape(const std::string& name, int lmax, std::int64_t n_components) {
  const auto grid = std::make_shared<const RingGrid>(RingGrid::from_name(name));
  const ModeLimits limits(*grid, lmax, lmax, 0);
  ModeLayout rows;
  std::int64_t position = 0;
  for (int m = 0; m <= lmax; ++m) {
    const RingRange kept = limits.kept(m);
    rows.begin_row(m);
    rows.add_segment(kept, position);
    position += kept.size();
  }
  rows.set_size(position);
  return {LocalRings(grid), std::move(rows), n_components};
}

class EmulatedRings : public testing::TestWithParam<std::string> {};

TEST_P(EmulatedRings, AreTheHostsForEveryOrder) {
  for (const int lmax : {0, 1, 2, 5, 32, 127, 256}) {
    expect_emulation_equal(dense_shape(RingGrid::from_name(GetParam()), lmax, 1),
                           std::to_string(lmax));
  }
}

TEST_P(EmulatedRings, AreTheHostsForBatches) {
  for (const std::int64_t n_components : {2, 3, 5, 17}) {
    expect_emulation_equal(dense_shape(RingGrid::from_name(GetParam()), 40, n_components),
                           std::to_string(n_components));
  }
}

TEST_P(EmulatedRings, AreTheHostsWherePolarModesArePruned) {
  for (const int lmax : {5, 127}) {
    expect_emulation_equal(pruned_shape(GetParam(), lmax, 2), std::to_string(lmax));
  }
}

INSTANTIATE_TEST_SUITE_P(Grids, EmulatedRings,
                         testing::Values("healpix:1", "healpix:2", "healpix:3", "healpix:4",
                                         "healpix:16", "healpix:64", "gauss:40", "gauss:9,21",
                                         "gauss:9,1", "gauss:9,2", "gauss:9,131", "gauss:9,262",
                                         "clenshaw:14", "clenshaw:33,202", "fejer:6", "fejer:20,37",
                                         "fejer:9,98"),
                         [](const auto& of) {
                           std::string name = of.param;
                           for (char& letter : name) {
                             if (letter == ':' || letter == ',') letter = '_';
                           }
                           return name;
                         });

TEST(EmulatedRing, OfAnyLengthIsTheHosts) {
  for (const std::int64_t n :
       {1, 2, 3, 4, 5, 6, 7, 8, 9, 31, 32, 33, 64, 74, 101, 188, 404, 1020, 1021, 2042, 4084}) {
    expect_emulation_equal(
        dense_shape(two_rings(n), static_cast<int>(n < 1000 ? 3 * n + 5 : n + 9), 1),
        std::to_string(n) + " folded");
    expect_emulation_equal(dense_shape(two_rings(n), static_cast<int>(n / 3), 2),
                           std::to_string(n));
  }
}

TEST(EmulatedRing, OfOneRankAmongManyIsTheHosts) {
  expect_emulation_equal(ranks_share(), "share");
  expect_emulation_equal(ranks_share(), "share, tiny workspace", 1);
}

TEST(EmulatedRing, NoBarrierIsMissing) {
  const RingFftShape large_tiles = pruned_shape("healpix:16", 70, 3);
  for (const RingFftShape& shape : {large_tiles, ranks_share()}) {
    EmulatedRingFft in_step(shape);
    EmulatedRingFftOn<gpu::WarpwiseMachine> warpwise(shape);
    const auto modes = random_modes(shape, 35);
    const auto pixels = random_map(shape, 36);
    std::vector<double> map(pixels.size());
    std::vector<double> warpwise_map(pixels.size());
    in_step.synthesize(modes, map_view(shape, map));
    warpwise.synthesize(modes, map_view(shape, warpwise_map));
    EXPECT_EQ(warpwise_map, map);
    std::vector<Complex> back(modes.size());
    std::vector<Complex> warpwise_back(modes.size());
    in_step.adjoint(map_view(shape, pixels), {}, back);
    warpwise.adjoint(map_view(shape, pixels), {}, warpwise_back);
    EXPECT_EQ(warpwise_back, back);
    EXPECT_TRUE(warpwise.machine().barriers_agree);
  }
}

TEST(EmulatedRing, IsTheSameToTheLastBitWhateverTheWorkspace) {
  const RingFftShape shape = dense_shape(RingGrid::healpix(16), 70, 3);
  const auto modes = random_modes(shape, 33);
  const auto pixels = random_map(shape, 34);
  std::vector<double> wanted(pixels.size());
  std::vector<Complex> wanted_back(modes.size());
  EmulatedRingFft roomy(shape);
  roomy.synthesize(modes, map_view(shape, wanted));
  roomy.adjoint(map_view(shape, pixels), {}, wanted_back);
  for (const std::int64_t bytes : {1, 3000, 20000, 200000}) {
    EmulatedRingFft tight(shape, bytes);
    EXPECT_LE(tight.bytes(), roomy.bytes());
    std::vector<double> map(pixels.size());
    std::vector<Complex> back(modes.size());
    tight.synthesize(modes, map_view(shape, map));
    tight.adjoint(map_view(shape, pixels), {}, back);
    EXPECT_EQ(map, wanted) << bytes;
    EXPECT_EQ(back, wanted_back) << bytes;
  }
}

TEST(EmulatedRing, OfBatchesIsThatOfSingleMapsToTheLastBit) {
  const RingFftShape batch = dense_shape(RingGrid::healpix(8), 40, 3);
  const RingFftShape single = dense_shape(RingGrid::healpix(8), 40, 1);
  const auto modes = random_modes(batch, 35);
  const std::int64_t n = single.rings.n_pixels();
  std::vector<double> map(to_size(3 * n));
  EmulatedRingFft(batch).synthesize(modes, map_view(batch, map));
  EmulatedRingFft one(single);
  for (std::int64_t c = 0; c < 3; ++c) {
    std::vector<Complex> part;
    for (std::int64_t i = 0; i < single.rows.size(); ++i) part.push_back(modes[to_size(3 * i + c)]);
    std::vector<double> alone(to_size(n));
    one.synthesize(part, map_view(single, alone));
    EXPECT_TRUE(std::equal(alone.begin(), alone.end(), map.begin() + c * n));
  }
}

TEST(EmulatedRing, IsTheSameWherePixelsAreNotAligned) {
  for (const std::int64_t n_components : {1, 2}) {
    const RingFftShape shape = dense_shape(RingGrid::healpix(8), 30, n_components);
    const std::int64_t n = shape.rings.n_pixels();
    const auto modes = random_modes(shape, 36);
    std::vector<double> aligned(to_size(n * n_components));
    std::vector<double> shifted(to_size((n + 1) * n_components + 1), 99.0);
    EmulatedRingFft fft(shape);
    fft.synthesize(modes, map_view(shape, aligned));
    const MapView<double> apart(shifted.data() + 1, n_components, n, n + 1);
    fft.synthesize(modes, apart);
    std::vector<Complex> back(modes.size());
    std::vector<Complex> back_apart(modes.size());
    fft.adjoint(MapView<const double>(map_view(shape, aligned)), {}, back);
    fft.adjoint(MapView<const double>(apart), {}, back_apart);
    EXPECT_EQ(back, back_apart);
    for (std::int64_t c = 0; c < n_components; ++c) {
      EXPECT_TRUE(std::equal(apart.component(c).data(), apart.component(c).data() + n,
                             aligned.begin() + c * n));
      EXPECT_EQ(shifted[to_size(c * (n + 1))], 99.0);
    }
  }
}

TEST(EmulatedRing, OfFloatsAgreesToSinglePrecisionBothWays) {
  for (const char* name : {"healpix:16", "gauss:9,21"}) {
    const RingFftShape shape = dense_shape(RingGrid::from_name(name), 70, 2);
    const auto modes = random_modes(shape, 37);
    EmulatedRingFft fft(shape);
    std::vector<double> map(to_size(2 * shape.rings.n_pixels()));
    std::vector<float> narrow(map.size());
    fft.synthesize(modes, map_view(shape, map));
    fft.synthesize(modes, map_view(shape, narrow));
    for (std::size_t i = 0; i < map.size(); ++i) EXPECT_EQ(narrow[i], static_cast<float>(map[i]));

    const std::vector<double> widened(narrow.begin(), narrow.end());
    std::vector<Complex> from_narrow(modes.size());
    std::vector<Complex> from_wide(modes.size());
    fft.adjoint(MapView<const float>(map_view(shape, narrow)), {}, from_narrow);
    fft.adjoint(map_view(shape, widened), {}, from_wide);
    EXPECT_EQ(from_narrow, from_wide);
  }
}

TEST(EmulatedRing, IsMultipliedByItsWeightInAnAdjoint) {
  for (const RingFftShape& shape : {dense_shape(RingGrid::healpix(8), 17, 2), ranks_share()}) {
    std::vector<double> weights(to_size(shape.rings.n_rings()));
    for (std::size_t r = 0; r < weights.size(); ++r)
      weights[r] = 0.5 + 0.1 * static_cast<double>(r);
    const auto map = random_map(shape, 38);
    std::vector<Complex> found(to_size(shape.rows.size() * shape.n_components));
    auto wanted = found;
    EmulatedRingFft(shape).adjoint(map_view(shape, map), weights, found);
    make_ring_fft(shape, Backend::host)->adjoint(map_view(shape, map), weights, view(wanted));
    expect_close(difference(found, wanted), "weights");
  }
}

TEST(EmulatedRing, HasTheExactTransposeAsItsAdjoint) {
  for (const RingFftShape& shape :
       {dense_shape(RingGrid::healpix(16), 80, 2), dense_shape(two_rings(101), 203, 1),
        dense_shape(RingGrid::from_name("fejer:9,98"), 300, 1)}) {
    const auto modes = random_modes(shape, 39);
    const auto pixels = random_map(shape, 40);
    std::vector<double> map(pixels.size());
    std::vector<Complex> back(modes.size());
    EmulatedRingFft fft(shape);
    fft.synthesize(modes, map_view(shape, map));
    fft.adjoint(map_view(shape, pixels), {}, back);
    EXPECT_LE(adjoint_gap(shape, modes, map, pixels, back), tolerance::adjoint);
  }
}

TEST(EmulatedRing, LeavesPaddingUntouchedInAnAdjoint) {
  const RingFftShape shape = ranks_share();
  const std::vector<bool> held = held_positions(shape);
  const Complex mark{12345, -54321};
  std::vector<Complex> modes(to_size(shape.rows.size() * shape.n_components), mark);
  const auto map = random_map(shape, 41);
  EmulatedRingFft(shape).adjoint(map_view(shape, map), {}, modes);
  for (std::size_t i = 0; i < held.size(); ++i)
    EXPECT_NE(held[i], modes[2 * i] == mark && modes[2 * i + 1] == mark);
}

TEST(EmulatedRing, WithoutModesIsZero) {
  RingFftShape shape = dense_shape(RingGrid::healpix(4), 3, 1);
  shape.rows = ModeLayout();
  std::vector<double> map(to_size(shape.rings.n_pixels()), 3.0);
  EmulatedRingFft(shape).synthesize({}, map_view(shape, map));
  EXPECT_THAT(map, testing::Each(0.0));
}

TEST(EmulatedRing, NeedNotBeThere) {
  const auto grid = std::make_shared<const RingGrid>(RingGrid::healpix(2));
  ModeLayout rows;
  for (int m = 0; m <= 5; ++m) rows.begin_row(m);
  EmulatedRingFft fft({LocalRings(grid, {}), rows, 1});
  std::vector<Complex> modes;
  fft.synthesize(modes, MapView<double>(nullptr, 1, 0));
  fft.adjoint(MapView<const double>(nullptr, 1, 0), {}, modes);
}

}  // namespace
}  // namespace ringweave::detail
