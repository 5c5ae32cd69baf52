// SPDX-License-Identifier: GPL-3.0-or-later
#include <gmock/gmock.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/simd/instruction_sets.hpp"
#include "convolve/direct_convolution.hpp"
#include "convolve/kernels.hpp"
#include "hwy/highway.h"
#include "ringweave/convolution.hpp"
#include "ringweave/error.hpp"
#include "ringweave/execution.hpp"
#include "support/only_target.hpp"
#include "support/tolerance.hpp"

namespace ringweave::detail::test {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;
using Path = ConvolutionPath;

RingConvolutionSpec spec_of(const RingGrid& grid, const RadialKernel& kernel, Path path) {
  RingConvolutionSpec spec;
  spec.grid = std::make_shared<const RingGrid>(grid);
  spec.kernels = {kernel};
  spec.n_maps = 2;
  spec.path = path;
  return spec;
}

SpinPixelMaps random_field(const RingGrid& grid, unsigned which) {
  return {random_pixels(grid, 2 * which), random_pixels(grid, 2 * which + 1)};
}

template <class T>
std::vector<SpinPixelMaps> convolved(const RingConvolutionSpec& spec,
                                     const std::vector<SpinPixelMaps>& fields) {
  RingConvolution convolution(Communicator::self(), spec);
  const std::int64_t n = spec.grid->n_pixels();
  MapBuffer<T> in(spec.n_maps, n);
  MapBuffer<T> out(spec.n_maps, n);
  for (std::int64_t m = 0; m < spec.n_maps; ++m) {
    const SpinPixelMaps& field = fields[to_size(m / 2)];
    for (std::int64_t p = 0; p < n; ++p) {
      in.view().component(m)[p] =
          static_cast<T>(m % 2 == 0 ? field.q[to_size(p)] : field.u[to_size(p)]);
    }
  }
  convolution.convolve<T>(std::as_const(in).view(), out.view());
  std::vector<SpinPixelMaps> result;
  for (std::int64_t m = 0; m < spec.n_maps; m += 2) {
    const auto q = out.view().component(m);
    const auto u = out.view().component(m + 1);
    result.push_back({{q.data(), q.data() + n}, {u.data(), u.data() + n}});
  }
  return result;
}

void expect_near(const SpinPixelMaps& found, const SpinPixelMaps& expected, double bound) {
  for (const auto map : {&SpinPixelMaps::q, &SpinPixelMaps::u}) {
    EXPECT_LE(relative_rms(found.*map, expected.*map), bound);
    EXPECT_LE(relative_max(found.*map, expected.*map), tolerance::max_over_rms * bound);
  }
}

struct Case {
  std::string name;
  RingGrid grid;
  RadialKernel kernel;
  std::vector<Path> paths;
};

std::vector<Case> cases() {
  const std::vector<Path> any = {Path::automatic, Path::pixels, Path::modes, Path::modes_equal};
  const std::vector<Path> edges = {Path::automatic, Path::pixels, Path::modes_equal};
  std::vector<RingSpec> rings;
  for (int i = 0; i < 15; ++i) {
    const int n_phi = 5 + 2 * std::min(i, 16 - i);
    rings.push_back({0.1 + 0.19 * i, 0.3 * i, n_phi, 0.1 + 0.01 * i});
  }
  const RingGrid user = RingGrid::from_rings(rings);
  return {{"Nside8Gaussian20", RingGrid::healpix(8), gaussian_of_spin(20, 2), any},
          {"Nside4Gaussian60", RingGrid::healpix(4), gaussian_of_spin(60, 2), any},
          {"Nside8Sharp", RingGrid::healpix(8), sharp_beam(12, 180, 2), any},
          {"Nside8SharpCut", RingGrid::healpix(8), sharp_beam(16, 33, 2), edges},
          {"Nside5SharpCutBeyondTheEquator", RingGrid::healpix(5), sharp_beam(9, 130, 2), edges},
          {"Nside5Spin1", RingGrid::healpix(5), sharp_beam(8, 180, 1), any},
          {"Nside5Spin3", RingGrid::healpix(5), sharp_beam(8, 180, 3), any},
          {"Nside5Gaussian20", RingGrid::healpix(5), gaussian_of_spin(20, 2), any},
          {"Nside1Gaussian60", RingGrid::healpix(1), gaussian_of_spin(60, 2), {Path::pixels}},
          {"GaussGaussian20", RingGrid::gauss_legendre(16, 32), gaussian_of_spin(30, 2), any},
          {"OddGaussSharpCut", RingGrid::gauss_legendre(17, 35), sharp_beam(20, 40, 2), edges},
          {"OddGaussSharp", RingGrid::gauss_legendre(11, 23), sharp_beam(8, 180, 2), any},
          {"ClenshawGaussian30", RingGrid::clenshaw_curtis(17, 36), gaussian_of_spin(30, 2), any},
          {"FejerSharp", RingGrid::fejer(16, 34), sharp_beam(10, 180, 2), any},
          {"UserGaussian40",
           user,
           gaussian_of_spin(40, 2),
           {Path::automatic, Path::pixels, Path::modes}},
          {"UserSharpCut", user, sharp_beam(12, 50, 2), {Path::pixels}}};
}

class SpinConvolutionOf : public testing::TestWithParam<Case> {};

TEST_P(SpinConvolutionOf, EqualsTheSumOverPixelsCarriedAlongGreatCircles) {
  const auto& [name, grid, kernel, paths] = GetParam();
  const SpinPixelMaps field = random_field(grid, 1);
  const SpinPixelMaps expected = convolve_spin_directly(grid, kernel, field);
  for (const Path path : paths) {
    SCOPED_TRACE("path " + std::to_string(static_cast<int>(path)));
    const RingConvolutionSpec spec = spec_of(grid, kernel, path);
    expect_near(convolved<double>(spec, {field})[0], expected, tolerance::round_trip);
    expect_near(convolved<float>(spec, {field})[0], expected, tolerance::single_storage);
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, SpinConvolutionOf, testing::ValuesIn(cases()),
                         [](const auto& test) { return test.param.name; });

TEST(SpinConvolution, OfConjugatesIsTheirSumOverPixelsTurnedByTheBearingsAtBothEnds) {
  for (const Case& of : cases()) {
    const int spin = of.kernel.spin();
    const RadialKernel kernel = of_conjugates(10, 50 + 40.0 * spin, spin);
    const SpinPixelMaps field = random_field(of.grid, 3);
    SpinPixelMaps expected = convolve_spin_directly(of.grid, of.kernel, field);
    const SpinPixelMaps more = convolve_spin_directly(of.grid, kernel, field);
    for (std::size_t p = 0; p < more.q.size(); ++p) {
      expected.q[p] += more.q[p];
      expected.u[p] += more.u[p];
    }
    for (const Path path : of.paths) {
      SCOPED_TRACE(of.name + ", path " + std::to_string(static_cast<int>(path)));
      RingConvolutionSpec spec = spec_of(of.grid, of.kernel, path);
      spec.conjugate_kernels = {kernel};
      expect_near(convolved<double>(spec, {field})[0], expected, tolerance::round_trip);
      if (path != Path::pixels) continue;
      expect_near(convolved<float>(spec, {field})[0], expected, tolerance::single_storage);
    }
  }
}

TEST(SpinConvolution, EverySetThisMachineRunsEqualsTheSumOverPixels) {
  const RingGrid grid = RingGrid::healpix(6);
  const RadialKernel kernel = sharp_beam(12, 40, 2);
  const SpinPixelMaps field = random_field(grid, 2);
  const SpinPixelMaps expected = convolve_spin_directly(grid, kernel, field);
  for (const Path path : {Path::pixels, Path::modes_equal}) {
    std::int64_t runnable = hwy::SupportedTargets() & HWY_TARGETS;
    ASSERT_NE(runnable, 0);
    for (; runnable != 0; runnable &= runnable - 1) {
      const std::int64_t target = runnable & -runnable;
      const OnlyTarget scope(target);
      SCOPED_TRACE(hwy::TargetName(target));
      const RingConvolutionSpec spec = spec_of(grid, kernel, path);
      expect_near(convolved<double>(spec, {field})[0], expected, tolerance::round_trip);
      expect_near(convolved<float>(spec, {field})[0], expected, tolerance::single_storage);
    }
  }
}

// Rings in many bands that carry sums on, and more orders than their scratch holds at a time.
TEST(SpinConvolution, ModesOfManyRingsEqualTheSumsOverPixels) {
  for (const Path path : {Path::modes, Path::modes_equal}) {
    const RingGrid grid = RingGrid::healpix(64);
    const SpinPixelMaps field = random_field(grid, 6);
    const SpinPixelMaps expected =
        convolved<double>(spec_of(grid, gaussian_of_spin(6, 2), Path::pixels), {field})[0];
    const SpinPixelMaps found =
        convolved<double>(spec_of(grid, gaussian_of_spin(6, 2), path), {field})[0];
    expect_near(found, expected, tolerance::round_trip);
  }
}

TEST(SpinConvolution, ABatchIsConvolvedAsFieldsAloneWithOneKernelOrOneForEach) {
  const RingGrid grid = RingGrid::healpix(8);
  std::vector<SpinPixelMaps> fields;
  for (unsigned f = 0; f < 3; ++f) fields.push_back(random_field(grid, f));
  for (const Path path : {Path::pixels, Path::modes, Path::modes_equal}) {
    for (const bool shares : {true, false}) {
      RingConvolutionSpec spec = spec_of(grid, gaussian_of_spin(25, 2), path);
      spec.n_maps = 6;
      if (!shares)
        spec.kernels = {gaussian_of_spin(25, 2), gaussian_of_spin(40, 2), gaussian_of_spin(30, 2)};
      const std::vector<SpinPixelMaps> together = convolved<double>(spec, fields);
      for (std::size_t f = 0; f < fields.size(); ++f) {
        const auto one = spec_of(grid, spec.kernels[shares ? 0 : f], path);
        expect_near(together[f], convolved<double>(one, {fields[f]})[0],
                    tolerance::rank_invariance);
      }
    }
  }
}

TEST(SpinConvolution, DoesNotDependOnTheNumberOfThreads) {
  const RingGrid grid = RingGrid::healpix(16);
  const SpinPixelMaps field = random_field(grid, 3);
  const int before = omp_get_max_threads();
  for (const Path path : {Path::pixels, Path::modes, Path::modes_equal}) {
    const RingConvolutionSpec spec = spec_of(grid, gaussian_of_spin(15, 2), path);
    omp_set_num_threads(1);
    const SpinPixelMaps alone = convolved<double>(spec, {field})[0];
    omp_set_num_threads(3);
    const SpinPixelMaps shared = convolved<double>(spec, {field})[0];
    EXPECT_EQ(std::memcmp(alone.q.data(), shared.q.data(), alone.q.size() * sizeof(double)), 0);
    EXPECT_EQ(std::memcmp(alone.u.data(), shared.u.data(), alone.u.size() * sizeof(double)), 0);
  }
  omp_set_num_threads(before);
}

TEST(SpinConvolution, WhatCannotBeConvolvedIsRefused) {
  const RingGrid grid = RingGrid::healpix(4);
  const auto expect_refusal = [&](const RingConvolutionSpec& spec, const std::string& words) {
    EXPECT_THAT([&] { RingConvolution(Communicator::self(), spec); },
                ThrowsMessage<UsageError>(HasSubstr(words)));
  };
  const RingConvolutionSpec good = spec_of(grid, gaussian_of_spin(40, 2), Path::automatic);
  RingConvolutionSpec spec = good;
  spec.n_maps = 3;
  expect_refusal(spec, "1 kernels of spin 2 for 3 maps");
  spec.n_maps = 6;
  spec.kernels = {gaussian_of_spin(40, 2), gaussian_of_spin(40, 2)};
  expect_refusal(spec, "2 kernels of spin 2 for 6 maps");
  spec = good;
  spec.kernels = {gaussian_of_spin(40, 2), gaussian(40)};
  expect_refusal(spec, "different spins");
  spec = good;
  spec.mode = ConvolutionMode::plain;
  expect_refusal(spec, "plain mode is for scalar fields");
  spec = good;
  spec.rows = KernelRows::fft;
  expect_refusal(spec, "made by sums");
  spec = good;
  const RingConvolution other(Communicator::self(), spec_of(grid, gaussian(40), Path::automatic));
  spec.ring_bands = other.ring_bands();
  expect_refusal(spec, "ring bands given are those of another grid");
}

}  // namespace
}  // namespace ringweave::detail::test
