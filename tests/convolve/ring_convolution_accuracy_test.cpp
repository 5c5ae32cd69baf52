// SPDX-License-Identifier: GPL-3.0-or-later
// Compares the ring convolution with the harmonic method with the same quadrature and no
// iterations: the tests of Elsner & Wandelt (2011), Sect. 4.3. Beams are as wide in pixels as
// theirs at nside 2048.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "ringweave/convolution.hpp"
#include "ringweave/grid.hpp"
#include "ringweave/smoothing.hpp"
#include "sphere/kernel/kernel_table.hpp"
#include "support/test_size.hpp"
#include "transform/transform_cases.hpp"
#include "transform/transform_problem.hpp"

namespace ringweave::detail::test {
namespace {

const int nside = test_size(512);
const double arcmin_at_2048 = std::numbers::pi / (180 * 60) * 2048 / nside;

/// Both methods on HEALPix maps.
class TwoMethods {
 public:
  TwoMethods(std::int64_t map_nside, int lmax)
      : transform_(Communicator::self(),
                   Case{share(RingGrid::healpix(map_nside)), lmax, lmax, {0}}.spec()) {}

  const RingGrid& grid() const { return *transform_.spec().grid; }

  /// C_l = 1 / (1 + l (l + 1)), about as steep as the CMB before its damping.
  MapBuffer<double> sky() {
    AlmBuffer<double> alm = random_alm(transform_);
    Beam amplitude;
    for (int l = 0; l <= transform_.spec().lmax; ++l)
      amplitude.t.push_back(1 / std::sqrt(1.0 + l * (l + 1.0)));
    multiply(amplitude, transform_.alm_layout(), transform_.fields(), alm.view());
    return synthesized(transform_, alm);
  }

  MapBuffer<double> harmonic(const MapBuffer<double>& map, const Beam& beam) {
    SmoothingOptions options;
    options.beam = beam;
    options.weights = std::make_shared<const AnalysisWeights>(
        AnalysisWeights{ring_weights(transform_.rings()), {}});
    options.n_iter = 0;
    MapBuffer<double> smoothed = copy_of(map);
    smooth_harmonic<double>(transform_, options, smoothed.view());
    return smoothed;
  }

  MapBuffer<double> by_rings(const MapBuffer<double>& map, const RadialKernel& kernel,
                             ConvolutionPath path = ConvolutionPath::automatic) const {
    RingConvolutionSpec spec;
    spec.grid = transform_.spec().grid;
    spec.kernels = {kernel};
    spec.path = path;
    RingConvolution convolution(Communicator::self(), spec);
    MapBuffer<double> out(1, map.size());
    convolution.convolve<double>(map.view(), out.view());
    return out;
  }

 private:
  SphericalHarmonicTransform transform_;
};

RadialKernel gaussian(double fwhm) {
  return RadialKernel::gaussian(fwhm, KernelSupport::automatic(1e-13));
}

TEST(RingConvolutionAccuracy, AGaussianSmoothsAsTheHarmonicMethodDoes) {
  constexpr double fractional_rms = 1e-5;
  const int lmax = 2 * nside;
  TwoMethods methods(nside, lmax);
  const MapBuffer<double> map = methods.sky();
  for (const double arcmin : {60, 30, 15, 6}) {
    const double fwhm = arcmin * arcmin_at_2048;
    const MapBuffer<double> expected = methods.harmonic(map, gaussian_beam(fwhm, lmax));
    const RelativeError error =
        relative_error(Communicator::self(), methods.by_rings(map, gaussian(fwhm)), expected);
    EXPECT_LE(error.rms, fractional_rms);
    RecordProperty("rms_of_" + std::to_string(static_cast<int>(arcmin)) + "_arcmin",
                   testing::PrintToString(error.rms) + " max " + testing::PrintToString(error.max));
  }
}

TEST(RingConvolutionAccuracy, ABeamOfTheSameDegreesIsTheHarmonicMethodToRounding) {
  const int lmax = 128;
  TwoMethods methods(64, lmax);
  const MapBuffer<double> map = methods.sky();
  for (const double fwhm_degrees : {0.1, 1.0, 3.0}) {
    const Beam beam = gaussian_beam(fwhm_degrees * std::numbers::pi / 180, lmax);
    const RadialKernel kernel = RadialKernel::from_beam(beam.t, KernelSupport::whole());
    expect_within(relative_error(Communicator::self(), methods.by_rings(map, kernel),
                                 methods.harmonic(map, beam)),
                  tolerance::round_trip);
  }
}

/// One pixel of value 1 on each of eight rings, four of them in the northern cap, 45 degrees apart.
class PointSources {
 public:
  explicit PointSources(const RingGrid& grid) : map_(1, grid.n_pixels()) {
    std::fill_n(map_.view().data(), map_.size(), 0.0);
    constexpr std::array<double, 8> latitudes = {86, 74, 62, 50, 36, 24, 12, 0};
    for (std::size_t i = 0; i < latitudes.size(); ++i) {
      const auto is_north_of = [](const Ring& ring, double theta) { return ring.theta < theta; };
      const double theta = (90 - latitudes[i]) * std::numbers::pi / 180;
      const Ring& ring =
          *std::lower_bound(grid.rings().begin(), grid.rings().end(), theta - 1e-9, is_north_of);
      const std::int64_t j = ring.n_phi * static_cast<std::int64_t>(i) / 8;
      map_.view().data()[ring.first_pixel + j] = 1;
      sources_.push_back({ring, direction(ring, j)});
    }
  }

  const MapBuffer<double>& map() const { return map_; }

  /// Largest values farther than a chord from every source.
  struct Artefacts {
    double caps = 0;
    double belt = 0;
    double other_rings = 0;  ///< on rings without a pixel that near
  };
  Artefacts beyond(double chord_squared, const RingGrid& grid, const MapBuffer<double>& map) const {
    Artefacts found;
    for (const Ring& ring : grid.rings()) {
      std::vector<Direction> near;
      for (const Source& source : sources_) {
        if (square(2 * std::sin((ring.theta - source.ring.theta) / 2)) <= chord_squared)
          near.push_back(source.direction);
      }
      double largest = 0;
      for (std::int64_t j = 0; j < ring.n_phi; ++j) {
        const Direction n = direction(ring, j);
        const bool is_inside = std::any_of(near.begin(), near.end(), [&](const Direction& s) {
          return square(n[0] - s[0]) + square(n[1] - s[1]) + square(n[2] - s[2]) <= chord_squared;
        });
        if (!is_inside)
          largest = std::max(largest, std::abs(map.view().data()[ring.first_pixel + j]));
      }
      double& place = std::abs(ring.cos_theta) > 2.0 / 3 ? found.caps : found.belt;
      place = std::max(place, largest);
      if (near.empty()) found.other_rings = std::max(found.other_rings, largest);
    }
    return found;
  }

 private:
  using Direction = std::array<double, 3>;
  struct Source {
    Ring ring;
    Direction direction;
  };
  static double square(double x) { return x * x; }
  static Direction direction(const Ring& ring, std::int64_t j) {
    const double phi =
        ring.phi0 + 2 * std::numbers::pi * static_cast<double>(j) / static_cast<double>(ring.n_phi);
    return {ring.sin_theta * std::cos(phi), ring.sin_theta * std::sin(phi), ring.cos_theta};
  }

  MapBuffer<double> map_;
  std::vector<Source> sources_;
};

TEST(RingConvolutionAccuracy, PointSourcesDoNotRing) {
  const int lmax = 2 * nside;
  TwoMethods methods(nside, lmax);
  const PointSources sources(methods.grid());
  const double fwhm = 4.7 * arcmin_at_2048;
  const RadialKernel kernel = gaussian(fwhm);
  // Rounding decides about chords next to the support's.
  const double beyond = kernel.table().chord_squared_cut * (1 + 1e-9);
  const double peak = kernel.at(0) * methods.grid().ring(RingId{0}).weight;

  const auto harmonic = sources.beyond(beyond, methods.grid(),
                                       methods.harmonic(sources.map(), gaussian_beam(fwhm, lmax)));
  EXPECT_GT(harmonic.caps, 1e-4 * peak);
  EXPECT_GT(harmonic.belt, 1e-4 * peak);
  for (const auto path : {ConvolutionPath::automatic, ConvolutionPath::pixels}) {
    const auto rings =
        sources.beyond(beyond, methods.grid(), methods.by_rings(sources.map(), kernel, path));
    EXPECT_EQ(rings.caps, 0);
    EXPECT_EQ(rings.belt, 0);
  }
  const auto modes =
      sources.beyond(beyond, methods.grid(),
                     methods.by_rings(sources.map(), kernel, ConvolutionPath::modes_equal));
  EXPECT_EQ(modes.other_rings, 0);
  EXPECT_EQ(modes.caps, 0);
  EXPECT_LE(modes.belt, tolerance::direct_sum * peak);
  RecordProperty("harmonic_caps", testing::PrintToString(harmonic.caps / peak));
  RecordProperty("harmonic_belt", testing::PrintToString(harmonic.belt / peak));
  RecordProperty("modes_belt", testing::PrintToString(modes.belt / peak));
}

}  // namespace
}  // namespace ringweave::detail::test
