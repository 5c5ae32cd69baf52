// SPDX-License-Identifier: GPL-3.0-or-later
#include "convolve/ring/ring_convolution_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "support/angles.hpp"

namespace ringweave::detail::test {
namespace {

RingConvolutionSpec spec_of(const RingGrid& grid, double fwhm, ConvolutionPath path) {
  RingConvolutionSpec spec;
  spec.grid = std::make_shared<const RingGrid>(grid);
  spec.kernels = {RadialKernel::gaussian(fwhm, KernelSupport::automatic(1e-5))};
  spec.error = 1e-5;
  spec.path = path;
  return spec;
}

void expect_halo_around(const RingConvolutionPlan& plan, const HaloPlan& halo) {
  const LocalRings& own = plan.own();
  for (std::int64_t i = 0; i < own.n_rings(); i += std::max<std::int64_t>(1, own.n_rings() - 1)) {
    const RingRange near = plan.window(index(own.global(LocalRing{i})));
    for (std::int64_t t = near.begin; t < near.end; ++t)
      EXPECT_NE(own.owns(RingId{t}), halo.contains(RingId{t})) << t;
  }
}

/// Checks that sends match receives, and that every ring has an owner.
void expect_whole(const RingConvolutionSpec& spec, int n_ranks) {
  std::int64_t pixels = 0;
  std::int64_t balance = 0;
  for (int rank = 0; rank < n_ranks; ++rank) {
    const RingConvolutionPlan plan(spec, rank, n_ranks);
    pixels += plan.own().n_pixels();
    for (const HaloPlan* halo : {&plan.pixel_halo(), &plan.mode_halo()})
      balance += halo->sent_bytes(1, 8) - halo->halo_bytes(1, 8);
    if (plan.modes().zone.empty()) expect_halo_around(plan, plan.pixel_halo());
    if (plan.modes().zone.size() == spec.grid->n_rings())
      expect_halo_around(plan, plan.mode_halo());
    if (plan.own().n_rings() > 0) {
      EXPECT_GT(plan.workspace_bytes(1), 0);
    }
  }
  EXPECT_EQ(pixels, spec.grid->n_pixels());
  EXPECT_EQ(balance, 0);
}

TEST(RingConvolutionPlan, RanksFitEachOtherAndAreMoreThanRingsIfNeedBe) {
  for (const auto path :
       {ConvolutionPath::pixels, ConvolutionPath::modes, ConvolutionPath::modes_equal}) {
    const RingConvolutionSpec spec = spec_of(RingGrid::healpix(8), 30 * degree, path);
    for (const int n_ranks : {1, 2, 3, 7, 16, 40, 100}) expect_whole(spec, n_ranks);
  }
}

TEST(RingConvolutionPlan, SixteenThousandRanksNeedNoMemory) {
  constexpr int n_ranks = 16384;
  const RingGrid grid = RingGrid::healpix(8192);
  for (const double fwhm_arcmin : {1.0, 60.0}) {
    const RingConvolutionSpec spec =
        spec_of(grid, fwhm_arcmin / 60 * degree, ConvolutionPath::automatic);
    for (const int rank : {0, 5000, n_ranks - 1}) {
      const RingConvolutionPlan plan(spec, rank, n_ranks);
      EXPECT_LE(plan.own().n_rings(), 40);
      const HaloPlan& halo = plan.modes().zone.empty() ? plan.pixel_halo() : plan.mode_halo();
      expect_halo_around(plan, halo);
      EXPECT_GT(halo.sent_bytes(1, 8), 0);
      EXPECT_LE(plan.mode_bytes() + plan.halo_bytes() + plan.workspace_bytes(1),
                std::int64_t{1} << 30);
    }
  }
}

TEST(RingConvolutionPlan, BandsTakeEquallyLong) {
  for (const double fwhm_arcmin : {5.0, 30.0, 60.0}) {
    const RingConvolutionSpec spec =
        spec_of(RingGrid::healpix(1024), fwhm_arcmin / 60 * degree, ConvolutionPath::automatic);
    for (const int n_ranks : {2, 5, 16}) {
      const RingConvolutionPlan plan(spec, 0, n_ranks);
      for (int rank = 0; rank < n_ranks; ++rank)
        EXPECT_LE(plan.predicted(rank).total(), 1.05 / n_ranks * plan.predicted().total())
            << fwhm_arcmin << " " << rank;
    }
  }
}

}  // namespace
}  // namespace ringweave::detail::test
