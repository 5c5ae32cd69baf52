// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <utility>

#include "base/checked_cast.hpp"
#include "convolve/direct_convolution.hpp"
#include "convolve/kernels.hpp"
#include "convolve/ring/ring_convolution_plan.hpp"
#include "ringweave/convolution.hpp"
#include "support/rank_groups.hpp"
#include "support/tolerance.hpp"

namespace ringweave::detail::test {
namespace {

/// Convolves this rank's rings of maps of the whole grid and compares them with the expected ones.
template <class T>
void expect_own_rings(const Communicator& comm, const RingConvolutionSpec& spec,
                      const std::vector<Pixels>& maps, const std::vector<Pixels>& expected,
                      double bound) {
  RingConvolution convolution(comm, spec);
  const LocalRings& rings = convolution.rings();
  MapBuffer<T> in(spec.n_maps, rings.n_pixels());
  MapBuffer<T> out(spec.n_maps, rings.n_pixels());
  for (std::int64_t m = 0; m < spec.n_maps; ++m) {
    for (const PixelSlab& slab : rings.slabs()) {
      for (std::int64_t i = 0; i < slab.count; ++i) {
        in.view().component(m)[slab.first_local + i] =
            static_cast<T>(maps[to_size(m)][to_size(slab.first_global + i)]);
      }
    }
  }
  convolution.convolve<T>(std::as_const(in).view(), out.view());
  const RingConvolutionPlan& plan = convolution.plan();
  EXPECT_EQ(convolution.halo_bytes_sent(), plan.pixel_halo().sent_bytes(spec.n_maps, sizeof(T)) +
                                               plan.mode_halo().sent_bytes(spec.n_maps, 16));
  for (std::int64_t m = 0; m < spec.n_maps; ++m) {
    double gap = 0;
    double all = 0;
    for (const PixelSlab& slab : rings.slabs()) {
      for (std::int64_t i = 0; i < slab.count; ++i) {
        const double wanted = expected[to_size(m)][to_size(slab.first_global + i)];
        gap += std::pow(static_cast<double>(out.view().component(m)[slab.first_local + i]) - wanted,
                        2);
        all += wanted * wanted;
      }
    }
    EXPECT_LE(std::sqrt(comm.sum(gap) / comm.sum(all)), bound);
  }
}

class RingConvolutionOnRanks : public OnEveryRankCount {};

TEST_P(RingConvolutionOnRanks, EqualsTheSumOverPixels) {
  struct Case {
    RingGrid grid;
    RadialKernel kernel;
    bool has_degree;
  };
  const std::vector<Case> cases = {{RingGrid::healpix(8), gaussian(12), true},
                                   {RingGrid::healpix(8), gaussian(40), true},
                                   {RingGrid::healpix(8), top_hat(25), false},
                                   {RingGrid::healpix(8), top_hat(180), false},
                                   {RingGrid::healpix(1), top_hat(70), false},
                                   {RingGrid::gauss_legendre(17, 36), gaussian(25), true},
                                   {RingGrid::clenshaw_curtis(15, 31), top_hat(30), false}};
  for (const Case& of : cases) {
    const std::vector<Pixels> maps = {random_pixels(of.grid, 1), random_pixels(of.grid, 2)};
    const std::vector<Pixels> expected = {convolve_directly(of.grid, of.kernel, maps[0]),
                                          convolve_directly(of.grid, of.kernel, maps[1])};
    RingConvolutionSpec spec;
    spec.grid = std::make_shared<const RingGrid>(of.grid);
    spec.kernels = {of.kernel};
    spec.n_maps = 2;
    for (const auto path : {ConvolutionPath::automatic, ConvolutionPath::pixels,
                            ConvolutionPath::modes, ConvolutionPath::modes_equal}) {
      if (path == ConvolutionPath::modes && !of.has_degree) continue;
      if (path == ConvolutionPath::modes_equal && of.grid.nside() == 1) continue;
      spec.path = path;
      expect_own_rings<double>(comm(), spec, maps, expected, tolerance::round_trip);
      expect_own_rings<float>(comm(), spec, maps, expected, tolerance::single_storage);
    }
  }
}

TEST_P(RingConvolutionOnRanks, FieldsOfSpinEqualTheSumOverPixelsOnGivenBandsToo) {
  struct Case {
    RingGrid grid;
    double support;
    std::vector<ConvolutionPath> paths;
  };
  const std::vector<ConvolutionPath> edges = {ConvolutionPath::pixels,
                                              ConvolutionPath::modes_equal};
  for (const Case& of :
       {Case{RingGrid::healpix(4), 180, {ConvolutionPath::modes}},
        Case{RingGrid::healpix(4), 30, edges}, Case{RingGrid::gauss_legendre(11, 23), 50, edges}}) {
    const std::vector<double> k_l = {0, 0, 1, 0.8, 1, 0.5, 0.4, 0.3, 0.4, 0.2};
    const RadialKernel kernel =
        RadialKernel::from_beam(k_l, KernelSupport::angle(of.support * degree), 2);
    const std::vector<Pixels> maps = {random_pixels(of.grid, 1), random_pixels(of.grid, 2)};
    const SpinPixelMaps sums = convolve_spin_directly(of.grid, kernel, {maps[0], maps[1]});
    RingConvolutionSpec spec;
    spec.grid = std::make_shared<const RingGrid>(of.grid);
    spec.kernels = {gaussian(40)};
    const RingConvolution scalar(comm(), spec);
    spec.kernels = {kernel};
    spec.n_maps = 2;
    for (const ConvolutionPath path : of.paths) {
      spec.path = path;
      spec.ring_bands = nullptr;
      expect_own_rings<double>(comm(), spec, maps, {sums.q, sums.u}, tolerance::round_trip);
      spec.ring_bands = scalar.ring_bands();
      expect_own_rings<float>(comm(), spec, maps, {sums.q, sums.u}, tolerance::single_storage);
      const RingConvolution again(comm(), spec);
      EXPECT_EQ(again.rings().n_pixels(), scalar.rings().n_pixels());
    }
  }
}

TEST_P(RingConvolutionOnRanks, ThePlainModeIsTheSameOnAnyNumberOfRanks) {
  const RingGrid grid = RingGrid::healpix(8);
  const Pixels map = random_pixels(grid, 4);
  RingConvolutionSpec spec;
  spec.grid = std::make_shared<const RingGrid>(grid);
  spec.kernels = {gaussian(10)};
  spec.mode = ConvolutionMode::plain;
  expect_own_rings<double>(comm(), spec, {map}, {convolve_plainly(grid, spec.kernels[0], map)},
                           tolerance::round_trip);
}

INSTANTIATE_TEST_SUITE_P(Ranks, RingConvolutionOnRanks, every_rank_count(), name_of_rank_groups);

}  // namespace
}  // namespace ringweave::detail::test
