// SPDX-License-Identifier: GPL-3.0-or-later
// Values and adjoint at points of all kinds against direct sums, for every decade of epsilon.
// Larger transforms: point_accuracy_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "nonuniform/direct_sums.hpp"
#include "nonuniform/point_problem.hpp"
#include "ringweave/points.hpp"
#include "support/tolerance.hpp"

namespace ringweave::detail::test {
namespace {

constexpr int lmax = 256;
constexpr int n_decades = 12;

/// Points of one kind, one kind after the other.
struct Kind {
  std::int64_t begin;
  std::int64_t end;
  std::int64_t size() const { return end - begin; }
};
constexpr Kind scattered{0, 200};
constexpr Kind banded{200, 400};
constexpr Kind different{0, 400};  ///< both
constexpr Kind repeated{400, 500};
constexpr Kind sampled{500, 600};
constexpr std::int64_t n_points = 600;
/// The same points are repeated several times.
constexpr std::int64_t n_repeated = 25;

std::int64_t origin(std::int64_t i) { return (i - repeated.begin) % n_repeated; }

/// Scattered points, then such of which half are where a mode of order lmax is large: next to the
/// equator.
Directions different_points() {
  Directions points = scattered_points(scattered.size());
  std::mt19937_64 random(4);
  std::uniform_real_distribution<double> unit(0, 1);
  for (std::int64_t i = 0; i < banded.size(); ++i) {
    const double z = (2 * unit(random) - 1) * (i % 2 == 0 ? 1.0 : 2 / std::sqrt(lmax));
    points.add(std::acos(z), 2 * std::numbers::pi * unit(random));
  }
  return points;
}

/// Points on the fine samples, where taps have the offset zero: rows all over the sphere, of even
/// number, then odd ones next to the equator.
Directions sampled_points(const PointReport& fine) {
  const std::int64_t n_even = sampled.size() / 2;
  Directions samples;
  for (std::int64_t i = 0; i < sampled.size(); ++i) {
    const std::int64_t row = i < n_even ? i * (fine.fine_rows - 1) / (n_even - 1) / 2 * 2
                                        : fine.fine_rows / 4 * 2 + 2 * (i - n_even) - n_even + 1;
    const std::int64_t column = i * 7 % fine.fine_columns;
    const auto rows = static_cast<double>(fine.fine_rows);
    const auto columns = static_cast<double>(fine.fine_columns);
    samples.add(std::numbers::pi * (static_cast<double>(row) + 0.5) / rows,
                2 * std::numbers::pi * static_cast<double>(column) / columns);
  }
  return samples;
}

/// Points of all kinds, with the taps that are chosen for the scattered ones.
struct Planned {
  Planned(const PointSpec& spec, Directions different_ones) : points(std::move(different_ones)) {
    const FineField field(Communicator::self(), spec, scattered.size());
    for (std::int64_t i = repeated.begin; i < repeated.end; ++i)
      points.add(points.theta[to_size(origin(i))], points.phi[to_size(origin(i))]);
    samples = sampled_points(PointSet(field, points.theta, points.phi).report());
    for (std::int64_t i = 0; i < samples.size(); ++i)
      points.add(samples.theta[to_size(i)], samples.phi[to_size(i)]);
    set.emplace(field, points.theta, points.phi);
  }

  Directions points;
  Directions samples;
  std::optional<PointSet> set;
};

/// Normal a_lm of unit variance, with all orders.
AlmBuffer<double> normal_alm(const FieldSet& fields) {
  return drawn_alm<double>(
      AlmLayout(lmax, lmax), fields,
      [](std::uint32_t component, int l, int m) { return normal_pair(seed, component, l, m); });
}

/// One mode of degree lmax in all components.
AlmBuffer<double> single_mode(const FieldSet& fields, int m) {
  const AlmLayout layout(lmax, lmax);
  AlmBuffer<double> alm(fields.n_components(), layout.size());
  std::fill_n(alm.view().data(), alm.n_components() * alm.size(), std::complex<double>(0));
  for (std::int64_t c = 0; c < alm.n_components(); ++c)
    alm.view().component(c)[layout.index(layout.row_of(m), lmax)] = {1, m == 0 ? 0.0 : -0.5};
  return alm;
}

ComponentBuffer<double> of_kind(const ComponentBuffer<double>& values, Kind kind) {
  ComponentBuffer<double> chosen(values.n_components(), kind.size());
  for (std::int64_t c = 0; c < values.n_components(); ++c)
    std::copy_n(values.view().component(c).data() + kind.begin, kind.size(),
                chosen.view().component(c).data());
  return chosen;
}

template <class Element>
RelativeError error_of(const ComponentBuffer<Element>& values,
                       const ComponentBuffer<Element>& expected) {
  return relative_error(Communicator::self(), values, expected);
}

ComponentBuffer<double> evaluated(PointTransform& transform, const AlmBuffer<double>& alm) {
  auto values = transform.make_values<double>();
  transform.evaluate(alm, values);
  return values;
}

constexpr int mode_orders[] = {0, 1};  ///< of single modes, over lmax

/// Direct sums for a field of any spin, which all decades share.
class Expected {
 public:
  explicit Expected(int spin)
      : fields({spin}),
        points(different_points()),
        direct(lmax, spin, points),
        alm(normal_alm(fields)),
        white(direct.values(alm)) {
    for (const int order : mode_orders)
      modes.push_back(direct.values_of_order(order * lmax, single_mode(fields, order * lmax)));
  }

  FieldSet fields;
  Directions points;
  DirectSums direct;
  AlmBuffer<double> alm;
  ComponentBuffer<double> white;
  std::vector<ComponentBuffer<double>> modes;  ///< values of a_(lmax,0), a_(lmax,lmax)
};

double largest_difference(const ComponentBuffer<double>& a, const ComponentBuffer<double>& b) {
  double most = 0;
  for (std::int64_t i = 0; i < a.n_components() * a.size(); ++i)
    most = std::max(most, std::abs(a.view().data()[i] - b.view().data()[i]));
  return most;
}

/// The transform of a decade.
class Decade {
 public:
  Decade(const Expected& of_all, double epsilon)
      : expected(of_all),
        spec(spec_of(lmax, {of_all.fields.max_spin()}, epsilon)),
        planned(spec, expected.points),
        at_samples(lmax, of_all.fields.max_spin(), planned.samples),
        transform(Communicator::self(), spec, *planned.set),
        bound(tolerance::at_points(epsilon, lmax)) {}

  void check_white() {
    const ComponentBuffer<double> values = evaluated(transform, expected.alm);
    expect_within(error_of(of_kind(values, sampled), at_samples.values(expected.alm)), bound);
    expect_within(error_of(next_to_poles(values), next_to_poles(expected.white)), bound);
    expect_within(error_of(of_kind(values, banded), of_kind(expected.white, banded)), bound);
    for (std::int64_t c = 0; c < values.n_components(); ++c) {
      const auto f = values.view().component(c);
      for (std::int64_t i = repeated.begin; i < repeated.end; ++i) EXPECT_EQ(f[i], f[origin(i)]);
    }
    expect_within(error_of(of_kind(values, scattered), of_kind(expected.white, scattered)), bound);
    check_off_poles(of_kind(values, different), expected.white);
  }

  /// Checks a_(lmax,0) and a_(lmax,lmax).
  void check_modes() {
    for (const int order : mode_orders) {
      SCOPED_TRACE("order " + std::to_string(order * lmax));
      const AlmBuffer<double> mode = single_mode(expected.fields, order * lmax);
      const ComponentBuffer<double> values = evaluated(transform, mode);
      const ComponentBuffer<double>& wanted = expected.modes[to_size(order)];
      const double rms = rms_of_mode(order * lmax);
      expect_within(error_of(of_kind(values, banded), of_kind(wanted, banded)), bound);
      expect_within(
          error_of(of_kind(values, sampled), at_samples.values_of_order(order * lmax, mode)),
          bound);
      expect_within(error_over(rms, of_kind(values, scattered), of_kind(wanted, scattered)), bound);
      check_off_poles(of_kind(values, different), wanted);
      const double largest_harmonic = std::sqrt((2 * lmax + 1) / (4 * std::numbers::pi));
      EXPECT_LE(largest_difference(of_kind(values, scattered), of_kind(wanted, scattered)),
                bound * largest_harmonic);
      // With spin a_(lmax,0) vanishes on the poles, but the errors of its terms in theta are in
      // phase there (docs/accuracy.md).
      const bool are_in_phase = order == 0 && spec.fields.max_spin() > 0;
      const RelativeError of_poles = error_over(rms, next_to_poles(values), next_to_poles(wanted));
      EXPECT_LE(of_poles.rms, are_in_phase ? bound * tolerance::in_phase(lmax) : bound);
      EXPECT_LE(of_poles.max, bound * tolerance::max_over_rms);
    }
  }

  /// of_others  the adjoint of the values that are not at fine samples
  void check_adjoint(const ComponentBuffer<double>& values, const AlmBuffer<double>& of_others) {
    AlmBuffer<double> wanted = at_samples.adjoint(of_kind(values, sampled));
    for (std::int64_t i = 0; i < wanted.n_components() * wanted.size(); ++i)
      wanted.view().data()[i] += of_others.view().data()[i];
    auto alm = transform.make_alm<double>();
    transform.adjoint(values, alm);
    // Points next to a pole make a_l0 many times larger than the others, so only the rms is a
    // measure.
    EXPECT_LE(error_of(alm, wanted).rms, bound);
  }

 private:
  /// Checks scattered points but those next to the poles.
  void check_off_poles(const ComponentBuffer<double>& values,
                       const ComponentBuffer<double>& wanted) const {
    const auto off_poles = [&](const ComponentBuffer<double>& all) {
      return of_kind(expected.direct.off_poles(all), scattered);
    };
    expect_within(error_of(off_poles(values), off_poles(wanted)), bound);
  }

  /// Returns the values at points from 1e-8 to 1e-2 rad from the poles, and on them.
  ComponentBuffer<double> next_to_poles(const ComponentBuffer<double>& values) const {
    std::vector<std::int64_t> numbers;
    for (std::int64_t i = scattered.begin; i < scattered.end; ++i) {
      if (std::sin(expected.points.theta[to_size(i)]) < 0.0101) numbers.push_back(i);
    }
    return of_numbers(values, numbers);
  }

  const Expected& expected;
  PointSpec spec;
  Planned planned;
  DirectSums at_samples;
  PointTransform transform;
  double bound;
};

/// Normal values at all points.
ComponentBuffer<double> values_of_adjoint(std::int64_t n_components) {
  ComponentBuffer<double> values(n_components, n_points);
  for (std::int64_t c = 0; c < n_components; ++c) {
    for (std::int64_t i = 0; i < n_points; ++i) {
      values.view().component(c)[i] =
          normal_pair(9, static_cast<std::uint32_t>(c), static_cast<int>(i), 0).re;
    }
  }
  return values;
}

/// Returns values at different points that have those of their repetitions as well.
ComponentBuffer<double> gathered(const ComponentBuffer<double>& values) {
  ComponentBuffer<double> sums = of_kind(values, different);
  for (std::int64_t c = 0; c < values.n_components(); ++c) {
    for (std::int64_t i = repeated.begin; i < repeated.end; ++i)
      sums.view().component(c)[origin(i)] += values.view().component(c)[i];
  }
  return sums;
}

/// Spin of the field.
class PointKinds : public testing::TestWithParam<int> {};

TEST_P(PointKinds, MeetEveryDecadeOfEpsilon) {
  const Expected expected(GetParam());
  const ComponentBuffer<double> values = values_of_adjoint(expected.fields.n_components());
  const AlmBuffer<double> adjoint = expected.direct.adjoint(gathered(values));
  for (int n = 2; n <= n_decades; ++n) {
    SCOPED_TRACE("epsilon 1e-" + std::to_string(n));
    Decade of_n(expected, std::pow(10.0, -n));
    of_n.check_white();
    of_n.check_modes();
    of_n.check_adjoint(values, adjoint);
  }
}

INSTANTIATE_TEST_SUITE_P(Spins, PointKinds, testing::Values(0, 1, 2, 3),
                         [](const auto& spin) { return "Spin" + std::to_string(spin.param); });

}  // namespace
}  // namespace ringweave::detail::test
