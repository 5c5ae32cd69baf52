// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <memory>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/mode_view.hpp"
#include "convolve/direct_convolution.hpp"
#include "convolve/kernels.hpp"
#include "convolve/ring/cuda/quadrant_sine.hpp"
#include "convolve/ring/cuda/ring_sum_sequence.hpp"
#include "convolve/ring/mode_zone.hpp"
#include "fft/ring_fft.hpp"
#include "support/emulated_block.hpp"
#include "support/tolerance.hpp"

namespace ringweave::detail::test {
namespace {

/// Convolves maps with the launches of a device, as loops, and ring FFTs of the host.
std::vector<Pixels> convolved(const RingConvolutionSpec& spec, const std::vector<Pixels>& maps) {
  const RingConvolutionPlan plan(spec, 0, 1);
  gpu::EmulatedMachine machine;
  gpu::RingSumSequence<gpu::EmulatedMachine> sequence(gpu::RingSumPlan(plan), machine);
  for (const RadialKernel& kernel : spec.kernels) sequence.add_kernel(kernel.table());
  const std::int64_t n_maps = spec.n_maps;
  const std::int64_t n_pixels = spec.grid->n_pixels();
  MapBuffer<double> in(n_maps, n_pixels);
  MapBuffer<double> out(n_maps, n_pixels);
  for (std::int64_t map = 0; map < n_maps; ++map)
    std::copy_n(maps[to_size(map)].data(), n_pixels, in.view().component(map).data());
  const std::int64_t n_together = plan.maps_together();
  for (std::int64_t first = 0; !plan.modes().zone.empty() && first < n_maps; first += n_together) {
    const ModeZone zone(plan);
    const auto fft = make_host_ring_fft(zone.shape);
    std::vector<std::complex<double>> modes(to_size(plan.rows().size() * n_together));
    std::vector<std::complex<double>> products(modes.size());
    fft->adjoint(zone.of(std::as_const(in).view().components(first, n_together)), zone.weights,
                 {modes.data(), ssize64(modes)});
    gpu::for_kernels(plan, first, n_together, [&](gpu::MapsOfKernel some) {
      some.first_map -= first;
      sequence.multiply(some, n_together, reinterpret_cast<const gpu::Double2*>(modes.data()),
                        reinterpret_cast<gpu::Double2*>(products.data()));
    });
    fft->synthesize(ModeView<const double>(products.data(), ssize64(products)),
                    zone.of(out.view().components(first, n_together)));
  }
  gpu::for_kernels(plan, 0, n_maps, [&](const gpu::MapsOfKernel& some) {
    sequence.sum_pixels<double>(some, {in.view().data(), in.view().stride()}, {},
                                {out.view().data(), out.view().stride()});
  });
  std::vector<Pixels> result;
  for (std::int64_t map = 0; map < n_maps; ++map) {
    const double* pixels = out.view().component(map).data();
    result.emplace_back(pixels, pixels + n_pixels);
  }
  return result;
}

TEST(EmulatedRingSums, EqualTheSumOverPixels) {
  struct Case {
    RingGrid grid;
    RadialKernel kernel;
    bool has_degree;
  };
  const std::vector<Case> cases = {{RingGrid::healpix(8), gaussian(12), true},
                                   {RingGrid::healpix(8), gaussian(40), true},
                                   {RingGrid::healpix(4), top_hat(25), false},
                                   {RingGrid::healpix(4), top_hat(180), false},
                                   {RingGrid::healpix(1), top_hat(70), false},
                                   {RingGrid::gauss_legendre(17, 36), gaussian(25), true},
                                   {RingGrid::clenshaw_curtis(15, 31), top_hat(30), false}};
  for (const Case& of : cases) {
    std::vector<Pixels> maps;
    for (unsigned map = 0; map < 3; ++map) maps.push_back(random_pixels(of.grid, map));
    RingConvolutionSpec spec;
    spec.grid = std::make_shared<const RingGrid>(of.grid);
    spec.kernels = {of.kernel};
    spec.n_maps = 3;
    for (const auto path :
         {ConvolutionPath::pixels, ConvolutionPath::modes, ConvolutionPath::modes_equal}) {
      if (path == ConvolutionPath::modes && !of.has_degree) continue;
      if (path == ConvolutionPath::modes_equal && of.grid.nside() == 1) continue;
      spec.path = path;
      const std::vector<Pixels> found = convolved(spec, maps);
      for (std::size_t map = 0; map < maps.size(); ++map) {
        EXPECT_LE(relative_rms(found[map], convolve_directly(of.grid, of.kernel, maps[map])),
                  tolerance::round_trip)
            << of.grid.name() << ", path " << static_cast<int>(path);
      }
    }
  }
}

TEST(EmulatedRingSums, OfFieldsOfSpinEqualTheSumOverPixelsCarriedAlongGreatCircles) {
  struct Case {
    RingGrid grid;
    RadialKernel kernel;
    std::vector<ConvolutionPath> paths;
  };
  using Path = ConvolutionPath;
  const std::vector<Path> any = {Path::pixels, Path::modes, Path::modes_equal};
  const std::vector<Path> edges = {Path::pixels, Path::modes_equal};
  const std::vector<Case> cases = {
      {RingGrid::healpix(8), gaussian_of_spin(20, 2), any},
      {RingGrid::healpix(4), gaussian_of_spin(60, 2), any},
      {RingGrid::healpix(5), sharp_beam(8, 180, 1), any},
      {RingGrid::healpix(5), sharp_beam(8, 180, 3), any},
      {RingGrid::healpix(5), sharp_beam(9, 130, 2), edges},
      {RingGrid::healpix(1), gaussian_of_spin(60, 2), {Path::pixels}},
      {RingGrid::gauss_legendre(17, 35), sharp_beam(20, 40, 2), edges},
      {RingGrid::clenshaw_curtis(17, 36), gaussian_of_spin(30, 1), any},
      {odd_rings(), sharp_beam(6, 70, 3), {Path::pixels}}};
  for (const Case& of : cases) {
    const SpinPixelMaps field{random_pixels(of.grid, 1), random_pixels(of.grid, 2)};
    const SpinPixelMaps expected = convolve_spin_directly(of.grid, of.kernel, field);
    RingConvolutionSpec spec;
    spec.grid = std::make_shared<const RingGrid>(of.grid);
    spec.kernels = {of.kernel};
    spec.n_maps = 2;
    for (const Path path : of.paths) {
      SCOPED_TRACE(of.grid.name() + ", path " + std::to_string(static_cast<int>(path)));
      spec.path = path;
      const std::vector<Pixels> found = convolved(spec, {field.q, field.u});
      EXPECT_LE(relative_rms(found[0], expected.q), tolerance::round_trip);
      EXPECT_LE(relative_rms(found[1], expected.u), tolerance::round_trip);
    }
  }
}

TEST(EmulatedRingSums, EveryFieldOfSpinMayHaveItsKernel) {
  const RingGrid grid = RingGrid::healpix(4);
  RingConvolutionSpec spec;
  spec.grid = std::make_shared<const RingGrid>(grid);
  spec.n_maps = 4;
  std::vector<Pixels> maps;
  for (unsigned map = 0; map < 4; ++map) maps.push_back(random_pixels(grid, map));
  for (const bool shares : {true, false}) {
    spec.kernels = {gaussian_of_spin(40, 2)};
    if (!shares) spec.kernels.push_back(gaussian_of_spin(60, 2));
    for (const auto path : {ConvolutionPath::pixels, ConvolutionPath::modes}) {
      spec.path = path;
      const std::vector<Pixels> found = convolved(spec, maps);
      for (std::size_t field = 0; field < 2; ++field) {
        const SpinPixelMaps expected = convolve_spin_directly(
            grid, spec.kernels[shares ? 0 : field], {maps[2 * field], maps[2 * field + 1]});
        EXPECT_LE(relative_rms(found[2 * field], expected.q), tolerance::round_trip);
        EXPECT_LE(relative_rms(found[2 * field + 1], expected.u), tolerance::round_trip);
      }
    }
  }
}

TEST(QuadrantSine, IsTheSine) {
  for (int i = -1000; i <= 1000; ++i) {
    const double x = std::numbers::pi / 2000 * i;
    EXPECT_NEAR(gpu::quadrant_sine(x), std::sin(x), 3e-16 * std::abs(std::sin(x))) << x;
  }
  EXPECT_EQ(gpu::quadrant_sine(1e-9), 1e-9);
}

TEST(QuadrantSine, GivesTheCosineToo) {
  for (int i = -1000; i <= 1000; ++i) {
    const double x = std::numbers::pi / 2000 * i;
    EXPECT_NEAR(gpu::quadrant_cosine(x), std::cos(x), 3e-16) << x;
  }
}

TEST(EmulatedRingSums, MapsGoTogether) {
  const RingGrid grid = RingGrid::healpix(16);
  RingConvolutionSpec spec;
  spec.grid = std::make_shared<const RingGrid>(grid);
  spec.kernels = {gaussian(60)};
  spec.path = ConvolutionPath::modes;
  std::vector<Pixels> maps;
  for (unsigned map = 0; map < 9; ++map) maps.push_back(random_pixels(grid, map));
  spec.n_maps = ssize64(maps);
  EXPECT_EQ(RingConvolutionPlan(spec, 0, 1).maps_together(), 3);
  const std::vector<Pixels> found = convolved(spec, maps);
  for (const std::size_t map : {std::size_t{0}, std::size_t{5}}) {  // one of a pair, and one alone
    EXPECT_LE(relative_rms(found[map], convolve_directly(grid, spec.kernels[0], maps[map])),
              tolerance::round_trip);
  }
}

TEST(EmulatedRingSums, EveryMapMayHaveItsKernel) {
  const RingGrid grid = RingGrid::healpix(4);
  const std::vector<Pixels> maps = {random_pixels(grid, 1), random_pixels(grid, 2)};
  RingConvolutionSpec spec;
  spec.grid = std::make_shared<const RingGrid>(grid);
  spec.kernels = {gaussian(30), gaussian(50)};
  spec.n_maps = 2;
  for (const auto path : {ConvolutionPath::pixels, ConvolutionPath::modes}) {
    spec.path = path;
    const std::vector<Pixels> found = convolved(spec, maps);
    for (std::size_t map = 0; map < maps.size(); ++map) {
      EXPECT_LE(relative_rms(found[map], convolve_directly(grid, spec.kernels[map], maps[map])),
                tolerance::round_trip);
    }
  }
}

TEST(EmulatedRingSums, ThePlainModeIsThePapers) {
  const RingGrid grid = RingGrid::healpix(8);
  const Pixels map = random_pixels(grid, 4);
  RingConvolutionSpec spec;
  spec.grid = std::make_shared<const RingGrid>(grid);
  spec.kernels = {gaussian(10)};
  spec.mode = ConvolutionMode::plain;
  EXPECT_LE(relative_rms(convolved(spec, {map})[0], convolve_plainly(grid, spec.kernels[0], map)),
            tolerance::round_trip);
}

}  // namespace
}  // namespace ringweave::detail::test
