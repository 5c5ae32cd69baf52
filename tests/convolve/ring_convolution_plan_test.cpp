// SPDX-License-Identifier: GPL-3.0-or-later
#include "convolve/ring/ring_convolution_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "convolve/ring/ring_convolution_estimate.hpp"
#include "perf_models/machine.hpp"
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

TEST(RingConvolutionPlan, CountsTheSumsOfWideKernelsOfConjugates) {
  RingConvolutionSpec spec;
  spec.grid = std::make_shared<const RingGrid>(RingGrid::healpix(64));
  spec.kernels = {RadialKernel::gaussian(2 * degree, KernelSupport::automatic(1e-3), 2)};
  spec.n_maps = 2;
  spec.ring_bands =
      std::make_shared<const RingDistribution>(RingConvolutionPlan(spec, 0, 3).bands());
  const RingConvolutionPlan alone(spec, 1, 3);
  EXPECT_GT(alone.mode_halo().halo_size, 0);
  std::vector<double> seconds;
  for (const double support : {5 * degree, 50 * degree}) {
    spec.conjugate_kernels = {RadialKernel::of_conjugate(std::vector<double>(100, 1.0),
                                                         KernelSupport::angle(support), 2)};
    const RingConvolutionPlan plan(spec, 1, 3);
    seconds.push_back(plan.predicted().total() - alone.predicted().total());
    EXPECT_EQ(plan.support(), std::max(support, alone.support()));
    EXPECT_EQ(plan.window(100), alone.window(100));
    EXPECT_EQ(plan.mode_halo().halo_size, alone.mode_halo().halo_size);
  }
  EXPECT_GT(seconds[1], 50 * seconds[0]);
}

TEST(RingConvolutionEstimate, OfADeviceIsItsPartOfTheHostsSecondsAndTheCopies) {
  RingConvolutionSpec spec = spec_of(RingGrid::healpix(64), 3 * degree, ConvolutionPath::automatic);
  spec.n_maps = 2;
  const RingConvolutionPlan plan(spec, 0, 2);
  Machine machine = typical_machine();
  const ConvolutionPlace place{Backend::cuda, 1, 2};
  const double on_host = estimate_convolution(plan, machine, {Backend::host, 1, 1}).total().seconds;
  EXPECT_EQ(estimate_convolution(plan, machine, place).total().seconds, on_host) << "no device";
  machine.device = *described_machine("h100_cluster").device;
  for (const auto curve : {&DeviceCosts::convolution_pixels, &DeviceCosts::convolution_ring_fft,
                           &DeviceCosts::convolution_modes})
    (*machine.device).*curve = CostCurve({{256, 0.01}}, 0);
  machine.device->to_device = machine.device->to_host = CostCurve({{256, 1e-9}}, 0);
  const RingConvolutionEstimate found = estimate_convolution(plan, machine, place);
  // Two ranks take turns, with two maps, there and back.
  const auto seconds_of = [&](int rank) {
    const double bytes = 8.0 * static_cast<double>(plan.bands().rings(rank).n_pixels());
    return std::pair(2 * 0.01 * plan.predicted_with_repeats(rank).total(), 2 * 2 * 2e-9 * bytes);
  };
  const auto sum = [](const std::pair<double, double>& of) { return of.first + of.second; };
  const auto slowest = std::max(seconds_of(0), seconds_of(1),
                                [&](const auto& a, const auto& b) { return sum(a) < sum(b); });
  const Estimate computing = found.sectors + found.ring_fft + found.modes;
  EXPECT_NEAR(computing.seconds, slowest.first, 1e-12);
  EXPECT_NEAR(found.copies.seconds, slowest.second, 1e-12);
}

}  // namespace
}  // namespace ringweave::detail::test
