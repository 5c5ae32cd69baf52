// SPDX-License-Identifier: GPL-3.0-or-later
// Values and adjoint against direct sums, for every decade of epsilon. The errors go into the XML
// or JSON of the test (--gtest_output), docs/accuracy.md shows them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

#include "nonuniform/point_problem.hpp"
#include "ringweave/points.hpp"
#include "support/tolerance.hpp"

namespace ringweave::detail::test {
namespace {

constexpr int lmax = RINGWEAVE_TEST_LMAX;
constexpr int n_decades = 12;
/// The quick test and the largest, which is of the full suite, do with fewer points.
constexpr std::int64_t n_points = lmax == 2047 ? 1000 : 200;

double decade(int n) { return std::pow(10.0, -n); }

/// Direct sums at points, which they keep.
struct DirectSums {
  DirectSums(int spin, const Directions& at) : spec(spec_of(lmax, {spin}, 1e-2)), points(at) {
    rings = std::make_unique<PointRings>(spec, points);
  }
  ComponentBuffer<double> values(const AlmBuffer<double>& alm) const {
    const MapBuffer<double> map = synthesized(*rings->transform, alm);
    return of_numbers(map, rings->places);
  }
  AlmBuffer<double> adjoint(const ComponentBuffer<double>& values) const {
    MapBuffer<double> map(values.n_components(), values.size());
    for (std::int64_t c = 0; c < values.n_components(); ++c) {
      for (std::int64_t i = 0; i < values.size(); ++i)
        map.view().component(c)[rings->places[to_size(i)]] = values.view().component(c)[i];
    }
    return adjoint_of(*rings->transform, map);
  }
  PointSpec spec;
  Directions points;
  std::unique_ptr<PointRings> rings;
};

PointTransform planned(const PointSpec& spec, const Directions& points) {
  const Communicator comm = Communicator::self();
  return {comm, spec, PointSet(comm, spec, points.theta, points.phi)};
}

AlmBuffer<double> single_mode(const FieldSet& fields, int l, int m) {
  const AlmLayout layout(lmax, lmax);
  AlmBuffer<double> alm(fields.n_components(), layout.size());
  std::fill_n(alm.view().data(), alm.n_components() * alm.size(), std::complex<double>(0));
  for (std::int64_t c = 0; c < alm.n_components(); ++c)
    alm.view().component(c)[layout.index(layout.row_of(m), l)] = {1, m == 0 ? 0.0 : -0.5};
  return alm;
}

/// Spin of the field.
class PointAccuracy : public testing::TestWithParam<int> {
 protected:
  RelativeError error_of(const PointSpec& spec, const Directions& points,
                         const AlmBuffer<double>& alm,
                         const ComponentBuffer<double>& expected) const {
    PointTransform transform = planned(spec, points);
    auto values = transform.make_values<double>();
    transform.evaluate(alm, values);
    return relative_error(Communicator::self(), values, expected);
  }
};

TEST_P(PointAccuracy, OfWhiteAlmMeetsEveryDecadeOfEpsilon) {
  const DirectSums direct(GetParam(), scattered_points(n_points));
  const AlmBuffer<double> alm = white_alm(AlmLayout(lmax, lmax), direct.spec.fields);
  const ComponentBuffer<double> expected = direct.values(alm);
  for (int n = 2; n <= n_decades; ++n) {
    PointSpec spec = direct.spec;
    spec.epsilon = decade(n);
    const RelativeError error = error_of(spec, direct.points, alm, expected);
    expect_within(error, tolerance::at_points(spec.epsilon, lmax));
    RecordProperty("rms_1e-" + std::to_string(n), std::to_string(std::log10(error.rms)));
    RecordProperty("max_1e-" + std::to_string(n), std::to_string(std::log10(error.max)));
  }
}

TEST_P(PointAccuracy, OfSingleModesAtTheEdgeOfTheBandMeetsEpsilon) {
  Directions points;
  std::mt19937_64 random(4);
  std::uniform_real_distribution<double> unit(0, 1);
  for (std::int64_t i = 0; i < n_points; ++i) {
    // A mode of order lmax is large next to the equator only.
    const double z = (2 * unit(random) - 1) * (i % 2 == 0 ? 1.0 : 2 / std::sqrt(lmax));
    points.add(std::acos(z), 2 * std::numbers::pi * unit(random));
  }
  const DirectSums direct(GetParam(), points);
  for (const int m : {0, lmax}) {
    const AlmBuffer<double> alm = single_mode(direct.spec.fields, lmax, m);
    const ComponentBuffer<double> expected = direct.values(alm);
    for (int n = 2; n <= n_decades; n += lmax > 2047 ? 5 : 2) {
      PointSpec spec = direct.spec;
      spec.epsilon = decade(n);
      expect_within(error_of(spec, points, alm, expected),
                    tolerance::at_points(spec.epsilon, lmax));
    }
  }
}

/// Where taps have the offset zero.
TEST_P(PointAccuracy, OnFineSamplesMeetsEpsilon) {
  for (const double epsilon : {1e-4, 1e-8, 1e-12}) {
    PointSpec spec = spec_of(lmax, {GetParam()}, epsilon);
    // The number of points chooses the fine samples, on which they then are.
    const std::int64_t n = n_points / 2;
    const PointReport fine = planned(spec, scattered_points(n)).points().report();
    Directions nodes;
    for (std::int64_t i = 0; i < n; ++i) {
      const auto row = static_cast<double>(i * (fine.fine_rows - 1) / (n - 1));
      const auto column = static_cast<double>(i * 7 % fine.fine_columns);
      nodes.add(std::numbers::pi * (row + 0.5) / static_cast<double>(fine.fine_rows),
                2 * std::numbers::pi * column / static_cast<double>(fine.fine_columns));
    }
    const DirectSums direct(GetParam(), nodes);
    const AlmBuffer<double> alm = white_alm(AlmLayout(lmax, lmax), direct.spec.fields);
    expect_within(error_of(spec, nodes, alm, direct.values(alm)),
                  tolerance::at_points(epsilon, lmax));
  }
}

TEST_P(PointAccuracy, RepeatedPointsHaveTheSameValues) {
  const Directions once = scattered_points(n_points / 4);
  Directions points;
  for (int repeat = 0; repeat < 3; ++repeat) {
    for (std::int64_t i = 0; i < once.size(); ++i)
      points.add(once.theta[to_size(i)], once.phi[to_size(i)]);
  }
  PointTransform transform = planned(spec_of(lmax, {GetParam()}, 1e-7), points);
  auto values = transform.make_values<double>();
  transform.evaluate(white_alm(transform.alm_layout(), FieldSet({GetParam()})), values);
  for (std::int64_t c = 0; c < values.n_components(); ++c) {
    const auto f = values.view().component(c);
    for (std::int64_t i = 0; i < f.size(); ++i) ASSERT_EQ(f[i], f[i % once.size()]) << i;
  }
}

TEST_P(PointAccuracy, OfTheAdjointMeetsEpsilon) {
  const DirectSums direct(GetParam(), scattered_points(n_points));
  PointSpec spec = direct.spec;
  spec.epsilon = 1e-13;
  PointTransform exact = planned(spec, direct.points);
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = 0; i < direct.points.size(); ++i) numbers.push_back(i);
  const ComponentBuffer<double> values = normal_values(exact, numbers);
  auto expected = exact.make_alm<double>();
  exact.adjoint(values, expected);
  const Communicator comm = Communicator::self();
  // Points next to a pole make a_l0 many times larger than the others, so only the rms is a
  // measure.
  EXPECT_LE(relative_error(comm, expected, direct.adjoint(values)).rms,
            tolerance::at_points(spec.epsilon, lmax));
  for (const int n : {2, 4, 6, 8, 10, 12}) {
    spec.epsilon = decade(n);
    PointTransform transform = planned(spec, direct.points);
    auto alm = transform.make_alm<double>();
    transform.adjoint(values, alm);
    EXPECT_LE(relative_error(comm, alm, expected).rms, tolerance::at_points(spec.epsilon, lmax));
  }
}

INSTANTIATE_TEST_SUITE_P(Spins, PointAccuracy, testing::Values(0, 1, 2, 3),
                         [](const auto& spin) { return "Spin" + std::to_string(spin.param); });

}  // namespace
}  // namespace ringweave::detail::test
