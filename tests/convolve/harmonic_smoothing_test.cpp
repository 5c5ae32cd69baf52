// SPDX-License-Identifier: GPL-3.0-or-later
#include <gmock/gmock.h>

#include <memory>
#include <utility>

#include "base/checked_cast.hpp"
#include "ringweave/analysis.hpp"
#include "ringweave/error.hpp"
#include "ringweave/grid.hpp"
#include "ringweave/smoothing.hpp"
#include "ringweave/transform.hpp"
#include "support/rank_groups.hpp"
#include "transform/transform_cases.hpp"
#include "transform/transform_problem.hpp"

namespace ringweave::detail::test {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

Beam flat_beam(double value, int lmax) {
  const std::vector<double> b(to_size(std::int64_t{lmax} + 1), value);
  return {b, b, b};
}

/// No iterations, the grid's own weights.
SmoothingOptions plain(const SphericalHarmonicTransform& transform, Beam beam) {
  SmoothingOptions options;
  options.beam = std::move(beam);
  options.weights =
      std::make_shared<const AnalysisWeights>(AnalysisWeights{ring_weights(transform.rings()), {}});
  options.n_iter = 0;
  return options;
}

/// Sets every component to value(pixel of the grid, z).
template <class T, class Value>
MapBuffer<T> map_of(const SphericalHarmonicTransform& transform, const Value& value) {
  MapBuffer<T> map = transform.make_map<T>();
  for (std::int64_t r = 0; r < transform.rings().n_rings(); ++r) {
    const Ring& ring = transform.rings().ring(LocalRing{r});
    for (std::int64_t j = 0; j < ring.n_phi; ++j) {
      for (std::int64_t c = 0; c < map.n_components(); ++c) {
        map.view().component(c)[transform.rings().first_pixel(LocalRing{r}) + j] =
            static_cast<T>(value(c, ring.first_pixel + j, ring.cos_theta));
      }
    }
  }
  return map;
}

/// The two grids of most tests.
class Smoothing : public OnEveryRankCount {
 protected:
  static TransformSpec gauss() {
    return Case{share(RingGrid::gauss_legendre(33)), 32, 32, {0, 2}}.spec();
  }
  static TransformSpec healpix() {
    return Case{share(RingGrid::healpix(16)), 32, 32, {0, 2}}.spec();
  }
};

TEST_P(Smoothing, ABeamOfOnesChangesNothingOnAnExactGrid) {
  SphericalHarmonicTransform transform(comm(), gauss());
  const MapBuffer<double> map = synthesized(transform, random_alm(transform));
  for (const int n_iter : {0, 2}) {
    SmoothingOptions options = plain(transform, flat_beam(1, 32));
    options.n_iter = n_iter;
    MapBuffer<double> smoothed = copy_of(map);
    const SmoothingReport report = smooth_harmonic<double>(transform, options, smoothed.view());
    expect_within(relative_error(comm(), smoothed, map), tolerance::round_trip);
    EXPECT_EQ(report.analysis.iterations, n_iter);
    EXPECT_EQ(report.maps.front().unseen_pixels,
              std::vector<std::int64_t>(to_size(map.n_components()), 0));
  }
}

TEST_P(Smoothing, MultipliesEachDegreeOfEachFieldByItsBeam) {
  SphericalHarmonicTransform transform(comm(), gauss());
  Beam beam = gaussian_beam(0.3, 32);
  for (std::size_t l = 0; l < beam.b.size(); ++l) beam.b[l] = 1.0 / (1.0 + static_cast<double>(l));
  AlmBuffer<double> alm = random_alm(transform);
  MapBuffer<double> map = synthesized(transform, alm);
  smooth_harmonic<double>(transform, plain(transform, beam), map.view());
  multiply(beam, transform.alm_layout(), transform.fields(), alm.view());
  expect_within(relative_error(comm(), map, synthesized(transform, alm)), tolerance::round_trip);
}

TEST_P(Smoothing, OneBeamAfterAnotherIsTheirProduct) {
  SphericalHarmonicTransform transform(comm(), gauss());
  const Beam a = gaussian_beam(0.2, 32);
  const Beam b = gaussian_beam(0.1, 20);
  MapBuffer<double> twice = synthesized(transform, random_alm(transform));
  MapBuffer<double> once = copy_of(twice);
  smooth_harmonic<double>(transform, plain(transform, a), twice.view());
  smooth_harmonic<double>(transform, plain(transform, b), twice.view());
  smooth_harmonic<double>(transform, plain(transform, a * b), once.view());
  expect_within(relative_error(comm(), twice, once), tolerance::round_trip);
}

TEST_P(Smoothing, AConstantMapIsMultipliedByTheBeamOfDegreeZero) {
  TransformSpec spec = healpix();
  spec.fields = FieldSet({0});
  SphericalHarmonicTransform transform(comm(), spec);
  SmoothingOptions options = plain(transform, gaussian_beam(0.2, 32));
  for (double& b : options.beam.t) b *= 0.7;
  options.tolerance = 1e-13;
  MapBuffer<double> map = map_of<double>(transform, [](auto, auto, auto) { return 3.0; });
  const SmoothingReport report = smooth_harmonic<double>(transform, options, map.view());
  EXPECT_LE(report.analysis.residuals.back(), 1e-13);
  const MapBuffer<double> expected =
      map_of<double>(transform, [](auto, auto, auto) { return 2.1; });
  expect_within(relative_error(comm(), map, expected), tolerance::round_trip);
}

bool masked(std::int64_t component, std::int64_t pixel, double z) {
  if (component == 0) return z > 0.8 || pixel == 1000;
  return component == 1 && z < -0.7;
}

/// A map with a different mask in each component; the last has none.
template <class T>
MapBuffer<T> masked_map(const SphericalHarmonicTransform& transform) {
  const MapBuffer<T> full = random_map<T>(transform);
  MapBuffer<T> map = map_of<T>(
      transform, [](auto c, auto pixel, double z) { return masked(c, pixel, z) ? unseen : 0; });
  for (std::int64_t i = 0; i < map.n_components() * map.size(); ++i) {
    if (!is_unseen(map.view().data()[i])) map.view().data()[i] = full.view().data()[i];
  }
  return map;
}

TEST_P(Smoothing, UnseenPixelsAreZeroForTheTransformAndRestoredOrLeft) {
  SphericalHarmonicTransform transform(comm(), healpix());
  SmoothingOptions options = plain(transform, gaussian_beam(0.2, 32));
  MapBuffer<double> expected = masked_map<double>(transform);
  for (std::int64_t i = 0; i < expected.n_components() * expected.size(); ++i) {
    double& value = expected.view().data()[i];
    if (is_unseen(value)) value = 0;
  }
  smooth_harmonic<double>(transform, options, expected.view());

  MapBuffer<double> map = masked_map<double>(transform);
  options.unseen = UnseenPolicy::zero;
  const SmoothingReport report = smooth_harmonic<double>(transform, options, map.view());
  EXPECT_TRUE(same_bits(map, expected));

  const MapBuffer<double> before = masked_map<double>(transform);
  std::vector<std::int64_t> n_unseen(to_size(map.n_components()), 0);
  for (std::int64_t i = 0; i < map.n_components() * map.size(); ++i) {
    if (!is_unseen(before.view().data()[i])) continue;
    expected.view().data()[i] = unseen;
    ++n_unseen[to_size(i / map.size())];
  }
  for (std::int64_t& count : n_unseen) count = comm().sum(count);
  EXPECT_EQ(report.maps.front().unseen_pixels, n_unseen);
  map = masked_map<double>(transform);
  options.unseen = UnseenPolicy::restore;
  smooth_harmonic<double>(transform, options, map.view());
  EXPECT_TRUE(same_bits(map, expected));
}

TEST_P(Smoothing, NormalizingDividesEachComponentByItsSmoothedMask) {
  // A size where scalar and spin fields keep different orders near the poles.
  TransformSpec spec = Case{share(RingGrid::healpix(64)), 150, 150, {0, 2}}.spec();
  SphericalHarmonicTransform transform(comm(), spec);
  SmoothingOptions options = plain(transform, gaussian_beam(0.05, 150));
  MapBuffer<double> map = masked_map<double>(transform);
  options.unseen = UnseenPolicy::normalize;
  smooth_harmonic<double>(transform, options, map.view());

  options.unseen = UnseenPolicy::zero;
  MapBuffer<double> expected = masked_map<double>(transform);
  smooth_harmonic<double>(transform, options, expected.view());
  spec.fields = FieldSet({0, 0, 0});
  SphericalHarmonicTransform scalars(comm(), spec);
  MapBuffer<double> weight = map_of<double>(
      scalars, [](auto c, auto pixel, double z) { return masked(c, pixel, z) ? 0 : 1; });
  smooth_harmonic<double>(scalars, plain(scalars, gaussian_beam(0.05, 150)), weight.view());
  const MapBuffer<double> before = masked_map<double>(transform);
  for (std::int64_t c = 0; c < 3; ++c) {
    for (std::int64_t i = 0; i < map.size(); ++i) {
      double& value = expected.view().component(c)[i];
      if (c < 2 &&
          (is_unseen(before.view().component(c)[i]) || weight.view().component(c)[i] <= 1e-3)) {
        value = 0;
        EXPECT_TRUE(is_unseen(map.view().component(c)[i]));
        map.view().component(c)[i] = 0;
      } else if (c < 2) {
        value /= weight.view().component(c)[i];
      }
    }
  }
  expect_within(relative_error(comm(), map, expected), tolerance::round_trip);
}

template <class T>
void a_constant_stays(const Communicator& comm, const TransformSpec& spec, double bound) {
  SphericalHarmonicTransform transform(comm, spec);
  for (const int n_iter : {0, 2}) {
    SmoothingOptions options = plain(transform, gaussian_beam(0.2, spec.lmax));
    options.n_iter = n_iter;
    options.unseen = UnseenPolicy::normalize;
    MapBuffer<T> map = map_of<T>(
        transform, [](auto, auto pixel, double z) { return masked(0, pixel, z) ? unseen : 2.5; });
    const MapBuffer<T> expected = copy_of(map);
    smooth_harmonic<T>(transform, options, map.view());
    for (std::int64_t i = 0; i < map.size(); ++i) {
      const double value = map.view().data()[i];
      const bool was_unseen = is_unseen(expected.view().data()[i]);
      EXPECT_EQ(is_unseen(value), was_unseen);
      EXPECT_NEAR(was_unseen ? 2.5 : value, 2.5, bound);
    }
  }
}

TEST_P(Smoothing, NormalizingKeepsAConstantUpToTheEdgeOfItsMask) {
  TransformSpec spec = healpix();
  spec.fields = FieldSet({0});
  a_constant_stays<double>(comm(), spec, 10 * tolerance::round_trip);
  a_constant_stays<float>(comm(), spec, 10 * tolerance::single_storage);
}

TEST_P(Smoothing, MonopoleAndDipoleCanBeLeftOutOfTheSmoothing) {
  TransformSpec spec = healpix();
  spec.fields = FieldSet({0});
  SphericalHarmonicTransform transform(comm(), spec);
  const auto low = [](std::int64_t, std::int64_t, double z) { return 5 + 2 * z; };
  SmoothingOptions options = plain(transform, gaussian_beam(0.4, 32));
  options.remove = Remove::dipole;
  MapBuffer<double> map = map_of<double>(transform, low);
  const SmoothingReport report = smooth_harmonic<double>(transform, options, map.view());
  EXPECT_NEAR(report.maps.front().removed.monopole, 5, 1e-12);
  EXPECT_NEAR(report.maps.front().removed.dipole[2], 2, 1e-12);
  const MapBuffer<double> nothing = map_of<double>(transform, [](auto, auto, auto) { return 0.0; });
  EXPECT_LE(relative_error(comm(), map, nothing).max, 1e-11);

  options.put_back = SmoothingOptions::PutBack::yes;
  map = map_of<double>(transform, low);
  smooth_harmonic<double>(transform, options, map.view());
  expect_within(relative_error(comm(), map, map_of<double>(transform, low)), tolerance::round_trip);
}

TEST_P(Smoothing, WhatCannotBeSmoothedIsRefused) {
  SphericalHarmonicTransform transform(comm(), healpix());
  SmoothingOptions options = plain(transform, gaussian_beam(0.2, 32));
  options.unseen = UnseenPolicy::fail;
  MapBuffer<double> one = random_map(transform);
  if (transform.rings().owns(RingId{20})) {
    one.view().component(1)[transform.rings().first_pixel(transform.rings().local(RingId{20}))] =
        unseen;
  }
  EXPECT_THAT([&] { smooth_harmonic<double>(transform, options, one.view()); },
              ThrowsMessage<DataError>(HasSubstr("1 pixels are UNSEEN")));

  options.unseen = UnseenPolicy::restore;
  MapBuffer<double> all =
      map_of<double>(transform, [](auto c, auto, auto) { return c == 2 ? unseen : 1.0; });
  EXPECT_THAT([&] { smooth_harmonic<double>(transform, options, all.view()); },
              ThrowsMessage<DataError>(HasSubstr("component 2")));

  const std::int64_t one_more = comm().is_root() ? 1 : 0;
  MapBuffer<double> wrong(3, one.size() + one_more);
  EXPECT_THROW(smooth_harmonic<double>(transform, options, wrong.view()), UsageError);
}

INSTANTIATE_TEST_SUITE_P(Ranks, Smoothing, every_rank_count(), name_of_rank_groups);

}  // namespace
}  // namespace ringweave::detail::test
