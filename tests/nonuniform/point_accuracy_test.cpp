// SPDX-License-Identifier: GPL-3.0-or-later
// Values and adjoint against direct sums, for every decade of epsilon. The errors go into the XML
// or JSON of the test (--gtest_output), docs/accuracy.md shows them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <numbers>
#include <string>
#include <vector>

#include "nonuniform/direct_sums.hpp"
#include "nonuniform/point_problem.hpp"
#include "ringweave/points.hpp"
#include "ringweave/spectra.hpp"
#include "support/test_size.hpp"
#include "support/tolerance.hpp"

namespace ringweave::detail::test {
namespace {

const int lmax = test_size(256);
constexpr int n_decades = 12;
/// The largest size, at which a transform takes long, does with some of the cases.
const bool is_largest = lmax > 2047;
const int step = is_largest ? 2 : 1;
constexpr std::int64_t n_points = 200;

double decade(int n) { return std::pow(10.0, -n); }

PointSet points_of(const PointSpec& spec, const Directions& points) {
  return {Communicator::self(), spec, points.theta, points.phi};
}

PointTransform planned(const PointSpec& spec, const Directions& points) {
  return {Communicator::self(), spec, points_of(spec, points)};
}

ComponentBuffer<double> evaluated(PointTransform& transform, const AlmBuffer<double>& alm) {
  auto values = transform.make_values<double>();
  transform.evaluate(alm, values);
  return values;
}

/// Normal a_lm of unit variance, with all orders: those of docs/accuracy.md.
AlmBuffer<double> normal_alm(const FieldSet& fields) {
  return drawn_alm<double>(
      AlmLayout(lmax, lmax), fields,
      [](std::uint32_t component, int l, int m) { return normal_pair(seed, component, l, m); });
}

AlmBuffer<double> single_mode(const FieldSet& fields, int l, int m) {
  const AlmLayout layout(lmax, lmax);
  AlmBuffer<double> alm(fields.n_components(), layout.size());
  std::fill_n(alm.view().data(), alm.n_components() * alm.size(), std::complex<double>(0));
  for (std::int64_t c = 0; c < alm.n_components(); ++c)
    alm.view().component(c)[layout.index(layout.row_of(m), l)] = {1, m == 0 ? 0.0 : -0.5};
  return alm;
}

constexpr double distances[] = {1e-8, 1e-5, 1e-4, 4e-4, 1e-3, 2e-3, 4e-3, 1e-2};

/// Two points at each distance from the pole.
Directions points_next_to_a_pole() {
  Directions points;
  for (const double distance : distances) {
    points.add(distance, 0.4);
    points.add(distance * 1.001, 2.9);
  }
  return points;
}

/// Returns begin to end - 1.
std::vector<std::int64_t> numbers_from(std::int64_t begin, std::int64_t end) {
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = begin; i < end; ++i) numbers.push_back(i);
  return numbers;
}

/// Spin of the field.
class PointAccuracy : public testing::TestWithParam<int> {};

TEST_P(PointAccuracy, OfWhiteAlmMeetsEveryDecadeOfEpsilon) {
  const DirectSums direct(lmax, GetParam(), scattered_points(n_points));
  const AlmBuffer<double> alm = normal_alm(FieldSet({GetParam()}));
  const ComponentBuffer<double> expected = direct.values(alm);
  for (int n = 2; n <= n_decades; n += step) {
    const PointSpec spec = spec_of(lmax, {GetParam()}, decade(n));
    PointTransform transform = planned(spec, direct.points());
    const ComponentBuffer<double> values = evaluated(transform, alm);
    const Communicator self = Communicator::self();
    const RelativeError error = relative_error(self, values, expected);
    const double bound = tolerance::at_points(spec.epsilon, lmax);
    expect_within(relative_error(self, direct.off_poles(values), direct.off_poles(expected)),
                  bound);
    EXPECT_LE(error.max, bound * tolerance::max_over_rms);
    // A quarter of the points are next to the poles. Rounding grows there as l^1.5
    // (docs/accuracy.md) and rules the rms of all at the highest degrees.
    if (!is_largest) {
      EXPECT_LE(error.rms, bound);
    }
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
  const std::vector<std::int64_t> banded = numbers_from(0, points.size());
  const Directions next_to_north = points_next_to_a_pole();
  for (std::int64_t i = 0; i < next_to_north.size(); ++i) {
    const double theta = next_to_north.theta[to_size(i)];
    for (const double north_or_south : {theta, std::numbers::pi - theta})
      points.add(north_or_south, next_to_north.phi[to_size(i)]);
  }
  const std::vector<std::int64_t> next_to_poles = numbers_from(ssize64(banded), points.size());
  const DirectSums direct(lmax, GetParam(), points);
  std::vector<AlmBuffer<double>> modes;
  std::vector<ComponentBuffer<double>> expected;
  const int orders[] = {0, lmax};
  for (const int m : orders) {
    modes.push_back(single_mode(FieldSet({GetParam()}), lmax, m));
    expected.push_back(direct.values_of_order(m, modes.back()));
  }
  for (int n = 2; n <= n_decades; n += step) {
    const PointSpec spec = spec_of(lmax, {GetParam()}, decade(n));
    PointTransform transform = planned(spec, points);
    for (std::size_t i = 0; i < modes.size(); ++i) {
      SCOPED_TRACE("epsilon 1e-" + std::to_string(n) + ", order " + std::to_string(orders[i]));
      const ComponentBuffer<double> values = evaluated(transform, modes[i]);
      const double bound = tolerance::at_points(spec.epsilon, lmax);
      expect_within(relative_error(Communicator::self(), of_numbers(values, banded),
                                   of_numbers(expected[i], banded)),
                    bound);
      const RelativeError of_poles =
          error_over(rms_of_mode(orders[i]), of_numbers(values, next_to_poles),
                     of_numbers(expected[i], next_to_poles));
      const double bound_of_poles = bound + tolerance::legendre_next_to_poles(lmax);
      // With spin a_(lmax,0) vanishes on the poles, but its errors are in phase there.
      if (orders[i] == 0 && GetParam() > 0) {
        EXPECT_LE(of_poles.max, bound_of_poles * tolerance::in_phase(lmax));
      } else {
        expect_within(of_poles, bound_of_poles);
      }
    }
  }
}

/// Checks points at which taps have the offset zero.
TEST_P(PointAccuracy, OnFineSamplesMeetsEpsilon) {
  for (const double epsilon : is_largest ? std::vector{1e-4} : std::vector{1e-2, 1e-4, 1e-12}) {
    const PointSpec spec = spec_of(lmax, {GetParam()}, epsilon);
    // The number of points chooses the fine samples, on which they then are.
    const std::int64_t n = n_points / 2;
    const PointReport fine = points_of(spec, scattered_points(n)).report();
    Directions nodes;
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t row = i * (fine.fine_rows - 1) / (n - 1);
      const std::int64_t column = i * 7 % fine.fine_columns;
      const auto rows = static_cast<double>(fine.fine_rows);
      const auto columns = static_cast<double>(fine.fine_columns);
      nodes.add(std::numbers::pi * (static_cast<double>(row) + 0.5) / rows,
                2 * std::numbers::pi * static_cast<double>(column) / columns);
    }
    const AlmBuffer<double> alm = normal_alm(FieldSet({GetParam()}));
    PointTransform transform = planned(spec, nodes);
    expect_within(relative_error(Communicator::self(), evaluated(transform, alm),
                                 DirectSums(lmax, GetParam(), nodes).values(alm)),
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
  const ComponentBuffer<double> values = evaluated(transform, normal_alm(FieldSet({GetParam()})));
  for (std::int64_t c = 0; c < values.n_components(); ++c) {
    const auto f = values.view().component(c);
    for (std::int64_t i = 0; i < f.size(); ++i) ASSERT_EQ(f[i], f[i % once.size()]) << i;
  }
}

TEST_P(PointAccuracy, OfTheAdjointMeetsEpsilon) {
  const DirectSums direct(lmax, GetParam(), scattered_points(n_points));
  PointSpec spec = spec_of(lmax, {GetParam()}, 1e-13);
  PointTransform exact = planned(spec, direct.points());
  const ComponentBuffer<double> values =
      normal_values(exact, numbers_from(0, direct.points().size()));
  auto expected = exact.make_alm<double>();
  exact.adjoint(values, expected);
  const Communicator comm = Communicator::self();
  // Points next to a pole make a_l0 many times larger than the others, so only the rms is a
  // measure. At high degrees the rounding of Legendre functions there rules it (docs/accuracy.md).
  if (lmax <= 256) {
    EXPECT_LE(relative_error(comm, expected, direct.adjoint(values)).rms,
              tolerance::at_points(spec.epsilon, lmax));
  }
  for (int n = 2; n <= n_decades; n += step) {
    spec.epsilon = decade(n);
    PointTransform transform = planned(spec, direct.points());
    auto alm = transform.make_alm<double>();
    transform.adjoint(values, alm);
    EXPECT_LE(relative_error(comm, alm, expected).rms, tolerance::at_points(spec.epsilon, lmax));
  }
}

/// Returns the largest error at the two points of each distance.
std::vector<double> errors_by_distance(const ComponentBuffer<double>& values,
                                       const ComponentBuffer<double>& expected) {
  std::vector<double> errors(std::size(distances));
  for (std::int64_t c = 0; c < values.n_components(); ++c) {
    for (std::int64_t i = 0; i < values.size(); ++i) {
      double& error = errors[to_size(i / 2)];
      error = std::max(error,
                       std::abs(values.view().component(c)[i] - expected.view().component(c)[i]));
    }
  }
  return errors;
}

/// Returns white a_lm that are zero but for order m of the orders 0..mmax.
AlmBuffer<double> order_of(const AlmBuffer<double>& white, int m, int mmax) {
  const AlmLayout all(lmax, lmax);
  const AlmLayout few(lmax, mmax);
  AlmBuffer<double> alm(white.n_components(), few.size());
  std::fill_n(alm.view().data(), alm.n_components() * alm.size(), std::complex<double>(0));
  for (std::int64_t c = 0; c < alm.n_components(); ++c) {
    for (int l = m; l <= lmax; ++l)
      alm.view().component(c)[few.index(m, l)] = white.view().component(c)[all.index(m, l)];
  }
  return alm;
}

/// Prints the table of docs/accuracy.md.
TEST(PointErrors, NextToAPoleOrdersLoseWhatTheirRecurrencesDo) {
  constexpr int spin = 2;
  constexpr int mmax = 3;
  constexpr double epsilon = 1e-12;
  const FieldSet fields({spin});
  const DirectSums direct(lmax, spin, points_next_to_a_pole());
  const AlmBuffer<double> white = normal_alm(fields);
  const ComponentBuffer<double> expected = direct.values(white);
  PointTransform transform = planned(spec_of(lmax, {spin}, epsilon), direct.points());
  std::vector<std::vector<double>> columns{
      errors_by_distance(evaluated(transform, white), expected)};
  PointTransform of_few = planned(spec_of(lmax, {spin}, epsilon, mmax), direct.points());
  for (const int m : {2, 1, 3}) {
    columns.push_back(errors_by_distance(evaluated(of_few, order_of(white, m, mmax)),
                                         direct.values_of_order(m, order_of(white, m, lmax))));
  }
  const PointRings rings(spec_of(lmax, {spin}, epsilon), direct.points());
  columns.push_back(
      errors_by_distance(of_numbers(synthesized(*rings.transform, white), rings.places), expected));
  const auto n = static_cast<double>(expected.n_components() * expected.size());
  const double rms = std::sqrt(squared_norm<double>(Communicator::self(), expected.view()) / n);
  const double allowed = tolerance::legendre_next_to_poles(lmax) +
                         tolerance::at_points(epsilon, lmax) * tolerance::max_over_rms;
  for (std::size_t k = 0; k < std::size(distances); ++k) {
    std::printf("theta %.0e:", distances[k]);
    for (const std::vector<double>& errors : columns) std::printf(" %.1e", errors[k] / rms);
    std::printf("\n");
    EXPECT_LE(columns.front()[k], allowed * rms) << distances[k];
  }
}

INSTANTIATE_TEST_SUITE_P(Spins, PointAccuracy, testing::Values(0, 1, 2, 3),
                         [](const auto& spin) { return "Spin" + std::to_string(spin.param); });

}  // namespace
}  // namespace ringweave::detail::test
