// SPDX-License-Identifier: GPL-3.0-or-later
#include <gmock/gmock.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <string>
#include <utility>

#include "base/checked_cast.hpp"
#include "base/device.hpp"
#include "convolve/direct_convolution.hpp"
#include "convolve/kernels.hpp"
#include "ringweave/convolution.hpp"
#include "ringweave/error.hpp"
#include "ringweave/execution.hpp"
#include "support/tolerance.hpp"

namespace ringweave::detail::test {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// A beam that ends at a degree without falling to zero first.
RadialKernel sharp_beam(int lmax, KernelSupport support) {
  std::vector<double> k_l;
  for (int l = 0; l <= lmax; ++l) k_l.push_back(1.0 / (1 + 0.01 * l * l));
  return RadialKernel::from_beam(k_l, support);
}

struct Case {
  std::string name;
  RingGrid grid;
  RadialKernel kernel;
  ConvolutionPath path = ConvolutionPath::automatic;
  KernelRows rows = KernelRows::automatic;
};

RingConvolutionSpec spec_of(const Case& of) {
  RingConvolutionSpec spec;
  spec.grid = std::make_shared<const RingGrid>(of.grid);
  spec.kernels = {of.kernel};
  spec.path = of.path;
  spec.rows = of.rows;
  return spec;
}

struct Way {
  ConvolutionPath path;
  KernelRows rows;
};
std::vector<Way> ways() {
  using Path = ConvolutionPath;
  return {{Path::pixels, KernelRows::automatic},
          {Path::modes, KernelRows::sums},
          {Path::modes, KernelRows::fft},
          {Path::modes_equal, KernelRows::sums},
          {Path::modes_equal, KernelRows::fft}};
}

template <class T>
std::vector<Pixels> convolved(const RingConvolutionSpec& spec, const std::vector<Pixels>& maps) {
  RingConvolution convolution(Communicator::self(), spec);
  const std::int64_t n = spec.grid->n_pixels();
  MapBuffer<T> in(spec.n_maps, n);
  MapBuffer<T> out(spec.n_maps, n);
  for (std::int64_t m = 0; m < spec.n_maps; ++m) {
    for (std::int64_t p = 0; p < n; ++p)
      in.view().component(m)[p] = static_cast<T>(maps[to_size(m)][to_size(p)]);
  }
  convolution.convolve<T>(std::as_const(in).view(), out.view());
  std::vector<Pixels> result;
  for (std::int64_t m = 0; m < spec.n_maps; ++m) {
    const auto pixels = out.view().component(m);
    result.emplace_back(pixels.data(), pixels.data() + n);
  }
  return result;
}

void expect_near(const Pixels& found, const Pixels& expected, double bound) {
  EXPECT_LE(relative_rms(found, expected), bound);
  EXPECT_LE(relative_max(found, expected), tolerance::max_over_rms * bound);
}

/// Tells whether the path can sum the kernel: modes alone cannot without a highest degree on the
/// grid.
bool is_possible(const RingConvolutionSpec& spec) {
  try {
    const RingConvolution convolution(Communicator::self(), spec);
    return true;
  } catch (const UsageError&) {
    return spec.path != ConvolutionPath::modes;
  }
}

std::vector<Case> cases() {
  using Path = ConvolutionPath;
  std::vector<Case> all;
  const auto add = [&](std::string name, const RingGrid& grid, const RadialKernel& kernel,
                       std::initializer_list<Path> paths) {
    for (const Path path : paths) {
      const char* const names[] = {"Automatic", "Pixels", "Modes", "ModesEqual"};
      const std::string name_of_path = name + names[static_cast<int>(path)];
      all.push_back({name_of_path, grid, kernel, path});
      if (path == Path::modes || path == Path::modes_equal)
        all.push_back({name_of_path + "RowsByFft", grid, kernel, path, KernelRows::fft});
    }
  };
  const std::initializer_list<Path> any = {Path::automatic, Path::pixels, Path::modes,
                                           Path::modes_equal};
  const std::initializer_list<Path> edges = {Path::automatic, Path::pixels, Path::modes_equal};
  const RingGrid coarse = RingGrid::healpix(8);
  const RingGrid middle = RingGrid::healpix(16);
  const RingGrid fine = RingGrid::healpix(32);
  add("Nside8Gaussian20", coarse, gaussian(20), any);
  add("Nside8Gaussian60", coarse, gaussian(60), any);
  add("Nside8TopHat30", coarse, top_hat(30), edges);
  add("Nside8TopHatWhole", coarse, top_hat(180), edges);
  add("Nside8Sharp", coarse, sharp_beam(12, KernelSupport::whole()), any);
  add("Nside16Gaussian3", middle, gaussian(3), edges);
  add("Nside16Gaussian12", middle, gaussian(12), any);
  add("Nside16TopHat3", middle, top_hat(3.1), edges);
  add("Nside16TopHat61", middle, top_hat(61), edges);
  add("Nside16Sharp", middle, sharp_beam(20, KernelSupport::whole()), any);
  add("Nside16SharpCut", middle, sharp_beam(30, KernelSupport::angle(0.35)), edges);
  add("Nside32Gaussian7", fine, gaussian(7), any);
  add("Nside32TopHat5", fine, top_hat(5.3), edges);
  add("Nside5Gaussian20", RingGrid::healpix(5), gaussian(20), any);
  add("Nside1Gaussian60", RingGrid::healpix(1), gaussian(60), {Path::automatic, Path::pixels});
  const RingGrid gauss = RingGrid::gauss_legendre(24, 48);
  const RingGrid odd = RingGrid::gauss_legendre(21, 45);
  add("GaussGaussian20", gauss, gaussian(20), any);
  add("GaussTopHat17", gauss, top_hat(17), edges);
  add("OddGaussGaussian20", odd, gaussian(20), any);
  add("OddGaussTopHat17", odd, top_hat(17), edges);
  add("ClenshawGaussian30", RingGrid::clenshaw_curtis(23, 48), gaussian(30), any);
  add("ClenshawTopHat40", RingGrid::clenshaw_curtis(23, 46), top_hat(40), edges);
  add("FejerSharp", RingGrid::fejer(24, 50), sharp_beam(10, KernelSupport::whole()), any);
  // Lengths with and without factors for short FFTs.
  for (const int n_phi : {4, 12, 41, 47, 49, 60, 74, 77, 128, 150, 262}) {
    const RingGrid ring = RingGrid::gauss_legendre(12, n_phi);
    add("Gauss" + std::to_string(n_phi) + "TopHat50", ring, top_hat(50), {Path::modes_equal});
    add("Gauss" + std::to_string(n_phi) + "TopHat130", ring, top_hat(130), {Path::modes_equal});
  }
  std::vector<RingSpec> rings;
  for (int i = 0; i < 15; ++i) {
    const int n_phi = 5 + 2 * std::min(i, 16 - i);
    rings.push_back({0.1 + 0.19 * i, 0.3 * i, n_phi, 0.1 + 0.01 * i});
  }
  const RingGrid user = RingGrid::from_rings(rings);
  add("UserGaussian40", user, gaussian(40), {Path::automatic, Path::pixels, Path::modes});
  add("UserTopHat50", user, top_hat(50), {Path::automatic, Path::pixels});
  return all;
}

class RingConvolutionOf : public testing::TestWithParam<Case> {};

TEST_P(RingConvolutionOf, EqualsTheSumOverPixels) {
  const Pixels map = random_pixels(GetParam().grid, 1);
  const Pixels expected = convolve_directly(GetParam().grid, GetParam().kernel, map);
  expect_near(convolved<double>(spec_of(GetParam()), {map})[0], expected, tolerance::round_trip);
  expect_near(convolved<float>(spec_of(GetParam()), {map})[0], expected, tolerance::single_storage);
}

INSTANTIATE_TEST_SUITE_P(Cases, RingConvolutionOf, testing::ValuesIn(cases()),
                         [](const auto& test) { return test.param.name; });

// A series of few samples along a ring must not miss what lies between them.
TEST(RingConvolution, FeaturesFarNarrowerThanTheSupportAreNotMissed) {
  const auto wide_gaussian = [](double fwhm, double support) {
    return RadialKernel::gaussian(fwhm * degree, KernelSupport::angle(support * degree));
  };
  const auto profile = [](std::vector<double> theta, const std::vector<double>& value) {
    for (double& angle : theta) angle *= degree;
    return RadialKernel::from_profile(theta, value, KernelSupport::whole());
  };
  const std::pair<std::string, RadialKernel> kernels[] = {
      {"a Gaussian of 12 degrees, cut at 45", wide_gaussian(12, 45)},
      {"a Gaussian of 12 degrees, cut at 59", wide_gaussian(12, 59)},
      {"a Gaussian of 12 degrees, cut at 80", wide_gaussian(12, 80)},
      {"a Gaussian of 12 degrees, cut at 120", wide_gaussian(12, 120)},
      {"a Gaussian of 25 degrees, nowhere cut", wide_gaussian(25, 180)},
      {"a ring of 3 degrees", profile({0, 57, 57.2, 59.8, 60, 80}, {0, 0, 1, 1, 0, 0})},
      {"a narrow ring at the edge", profile({0, 75, 75.2, 78}, {0, 0, 1, 1})},
      {"a disc with a narrow slope", profile({0, 76, 79}, {1, 1, 0})},
      {"a core and a wide plateau", profile({0, 2, 10, 80}, {100, 80, 1, 1})}};
  for (const std::int64_t nside : {4, 8, 16}) {
    const RingGrid grid = RingGrid::healpix(nside);
    const Pixels map = random_pixels(grid, 7);
    for (const auto& [name, kernel] : kernels) {
      const Pixels expected = convolve_directly(grid, kernel, map);
      for (const Way way : ways()) {
        SCOPED_TRACE(name + ", nside " + std::to_string(nside) + ", path " +
                     std::to_string(static_cast<int>(way.path)));
        const RingConvolutionSpec spec = spec_of({"", grid, kernel, way.path, way.rows});
        if (!is_possible(spec)) continue;
        expect_near(convolved<double>(spec, {map})[0], expected, tolerance::round_trip);
      }
    }
  }
}

TEST(RingConvolution, StaysWithinTheErrorAllowed) {
  const RingGrid grid = RingGrid::healpix(16);
  const Pixels map = random_pixels(grid, 5);
  for (const double error : {1e-2, 1e-4, 1e-7}) {
    const auto support = KernelSupport::automatic(error);
    const RadialKernel kernels[] = {RadialKernel::gaussian(16 * degree, support),
                                    RadialKernel::gaussian(10 * degree, support),
                                    sharp_beam(20, KernelSupport::whole())};
    for (const RadialKernel& kernel : kernels) {
      const Pixels expected = convolve_directly(grid, kernel, map);
      for (const auto path : {ConvolutionPath::automatic, ConvolutionPath::pixels,
                              ConvolutionPath::modes, ConvolutionPath::modes_equal}) {
        RingConvolutionSpec spec = spec_of({"", grid, kernel, path});
        spec.error = error;
        EXPECT_LE(relative_rms(convolved<double>(spec, {map})[0], expected), error);
      }
    }
  }
}

TEST(RingConvolution, ThePlainModeDropsWhatIsAboveEachRingsNyquist) {
  for (const RingGrid& grid : {RingGrid::healpix(8), RingGrid::gauss_legendre(16, 32)}) {
    for (const RadialKernel& kernel : {gaussian(8), top_hat(20)}) {
      const Pixels map = random_pixels(grid, 2);
      RingConvolutionSpec spec = spec_of({"", grid, kernel});
      spec.mode = ConvolutionMode::plain;
      const Pixels expected = convolve_plainly(grid, kernel, map);
      for (const auto rows : {KernelRows::sums, KernelRows::fft}) {
        spec.rows = rows;
        expect_near(convolved<double>(spec, {map})[0], expected, tolerance::round_trip);
      }
    }
  }
}

TEST(RingConvolution, ABatchIsConvolvedAsMapsAloneWithOneKernelOrOneForEach) {
  const RingGrid grid = RingGrid::healpix(8);
  std::vector<Pixels> maps;
  for (unsigned m = 0; m < 5; ++m) maps.push_back(random_pixels(grid, m));
  for (const Way way : ways()) {
    for (const bool shares : {true, false}) {
      RingConvolutionSpec spec = spec_of({"", grid, gaussian(25), way.path, way.rows});
      spec.n_maps = 5;
      if (!shares)
        spec.kernels = {gaussian(25), gaussian(40), gaussian(30), gaussian(25), gaussian(35)};
      const std::vector<Pixels> together = convolved<double>(spec, maps);
      for (std::size_t m = 0; m < maps.size(); ++m) {
        RingConvolutionSpec one =
            spec_of({"", grid, spec.kernels[shares ? 0 : m], way.path, way.rows});
        expect_near(together[m], convolved<double>(one, {maps[m]})[0], tolerance::rank_invariance);
      }
    }
  }
}

// Rings in many bands that carry sums on, and more orders than their scratch holds at a time.
TEST(RingConvolution, ModesOfManyRingsEqualTheSumsOverPixels) {
  struct ManyRings {
    std::int64_t nside;
    RadialKernel kernel;
    ConvolutionPath path;
  };
  const ManyRings cases[] = {{64, gaussian(6), ConvolutionPath::modes},
                             {128, gaussian(4), ConvolutionPath::modes_equal},
                             {128, top_hat(50), ConvolutionPath::modes_equal}};
  for (const ManyRings& of : cases) {
    const RingGrid grid = RingGrid::healpix(of.nside);
    const Pixels map = random_pixels(grid, 6);
    const Pixels expected =
        convolved<double>(spec_of({"", grid, of.kernel, ConvolutionPath::pixels}), {map})[0];
    for (const auto rows : {KernelRows::sums, KernelRows::automatic, KernelRows::fft}) {
      const auto found = convolved<double>(spec_of({"", grid, of.kernel, of.path, rows}), {map})[0];
      expect_near(found, expected, tolerance::round_trip);
    }
  }
}

TEST(RingConvolution, DoesNotDependOnTheNumberOfThreads) {
  const RingGrid grid = RingGrid::healpix(16);
  const Pixels map = random_pixels(grid, 3);
  const int before = omp_get_max_threads();
  for (const Way way : ways()) {
    const RingConvolutionSpec spec = spec_of({"", grid, gaussian(15), way.path, way.rows});
    omp_set_num_threads(1);
    const Pixels alone = convolved<double>(spec, {map})[0];
    omp_set_num_threads(3);
    const Pixels shared = convolved<double>(spec, {map})[0];
    EXPECT_EQ(std::memcmp(alone.data(), shared.data(), alone.size() * sizeof(double)), 0);
  }
  omp_set_num_threads(before);
}

TEST(RingConvolution, BeyondTheSupportOfAPointNothingIsChanged) {
  const RingGrid grid = RingGrid::healpix(16);
  Pixels map(to_size(grid.n_pixels()), 0.0);
  const std::int64_t source = 100;
  map[to_size(source)] = 1;
  const RadialKernel kernel = gaussian(6);
  const RingConvolutionSpec spec = spec_of({"", grid, kernel, ConvolutionPath::pixels});
  const Pixels found = convolved<double>(spec, {map})[0];
  const Pixels expected = convolve_directly(grid, kernel, map);
  for (std::size_t p = 0; p < found.size(); ++p) EXPECT_EQ(found[p] == 0, expected[p] == 0) << p;
}

TEST(RingConvolution, WhatCannotBeConvolvedIsRefused) {
  const RingGrid grid = RingGrid::healpix(4);
  RingConvolutionSpec spec = spec_of({"", grid, gaussian(20)});
  const auto plan = [&] { RingConvolution(Communicator::self(), spec); };
  spec.n_maps = 3;
  spec.kernels = {gaussian(20), gaussian(20)};
  EXPECT_THAT(plan, ThrowsMessage<UsageError>(HasSubstr("2 kernels for 3 maps")));
  spec = spec_of({"", grid, top_hat(20), ConvolutionPath::modes});
  EXPECT_THAT(plan, ThrowsMessage<UsageError>(HasSubstr("no highest degree")));
  spec = spec_of({"", grid, gaussian(20), ConvolutionPath::pixels});
  spec.mode = ConvolutionMode::plain;
  EXPECT_THAT(plan, ThrowsMessage<UsageError>(HasSubstr("plain mode")));
  if (device_count() == 0) {
    spec = spec_of({"", grid, gaussian(20)});
    spec.backend = Backend::cuda;
    EXPECT_THROW(plan(), Error);
  }

  RingConvolution convolution(Communicator::self(), spec_of({"", grid, gaussian(20)}));
  MapBuffer<double> map(1, grid.n_pixels());
  MapBuffer<double> small(1, grid.n_pixels() - 1);
  const auto in = std::as_const(map).view();
  EXPECT_THAT([&] { convolution.convolve<double>(in, small.view()); },
              ThrowsMessage<UsageError>(HasSubstr("pixels out")));
  EXPECT_THAT([&] { convolution.convolve<double>(in, map.view()); },
              ThrowsMessage<UsageError>(HasSubstr("share memory")));
}

}  // namespace
}  // namespace ringweave::detail::test
