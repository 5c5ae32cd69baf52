// SPDX-License-Identifier: GPL-3.0-or-later
// Values and adjoint against direct sums, for every decade of epsilon. The errors go into the XML
// or JSON of the test (--gtest_output), docs/accuracy.md shows them.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <memory>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include "legendre/direct_harmonics.hpp"
#include "nonuniform/point_problem.hpp"
#include "ringweave/points.hpp"
#include "ringweave/spectra.hpp"
#include "support/test_size.hpp"
#include "support/tolerance.hpp"

namespace ringweave::detail::test {
namespace {

const int lmax = test_size(256);
constexpr int n_decades = 12;
/// The largest does with some of the decades.
const int step = lmax > 2047 ? 5 : 1;
constexpr std::int64_t n_points = 200;

double decade(int n) { return std::pow(10.0, -n); }

/// Direct sums at points, which they keep.
struct DirectSums {
  DirectSums(int spin, const Directions& at) : spec(spec_of(lmax, {spin}, 1e-2)), points(at) {
    rings = std::make_unique<PointRings>(spec, points);
  }
  ComponentBuffer<double> values(const AlmBuffer<double>& alm) const {
    const MapBuffer<double> map = synthesized(*rings->transform, alm);
    ComponentBuffer<double> values = of_numbers(map, rings->places);
    if (lmax > 256) sum_next_to_poles(alm, values.view());
    return values;
  }
  AlmBuffer<double> adjoint(const ComponentBuffer<double>& values) const {
    const ComponentBuffer<double> rest = off_poles(values);
    MapBuffer<double> map(values.n_components(), values.size());
    for (std::int64_t c = 0; c < values.n_components(); ++c) {
      for (std::int64_t i = 0; i < values.size(); ++i)
        map.view().component(c)[rings->places[to_size(i)]] = rest.view().component(c)[i];
    }
    AlmBuffer<double> alm = adjoint_of(*rings->transform, map);
    add_from_next_to_poles(values, alm.view());
    return alm;
  }
  /// Returns values that are zero at the points next to the poles.
  ComponentBuffer<double> off_poles(const ComponentBuffer<double>& values) const {
    ComponentBuffer<double> rest = copy_of(values);
    for (std::int64_t i = 0; i < points.size(); ++i) {
      for (std::int64_t c = 0; c < rest.n_components() && ring_of(i).sin_theta < near_pole; ++c)
        rest.view().component(c)[i] = 0;
    }
    return rest;
  }

  PointSpec spec;
  Directions points;
  std::unique_ptr<PointRings> rings;

 private:
  using LongComplex = std::complex<long double>;
  static constexpr LongComplex imaginary{0, 1};

  /// The transform's own sums lose digits next to the poles, about as l^1.5; few orders count
  /// there.
  static constexpr double near_pole = 0.0101;

  const Ring& ring_of(std::int64_t point) const {
    return rings->transform->spec().grid->ring(RingId{rings->places[to_size(point)]});
  }
  static int most_m_on(const Ring& ring) {
    const double turns = lmax * ring.sin_theta;
    return std::min(lmax, static_cast<int>(turns + 12 * std::cbrt(turns)) + 30);
  }

  /// Points next to the poles, and the largest order that counts there.
  struct NearPoles {
    std::vector<std::int64_t> points;
    int most_m = -1;
  };
  NearPoles next_to_poles() const {
    NearPoles near;
    for (std::int64_t point = 0; point < points.size(); ++point) {
      if (ring_of(point).sin_theta >= near_pole) continue;
      near.points.push_back(point);
      near.most_m = std::max(near.most_m, most_m_on(ring_of(point)));
    }
    return near;
  }
  /// Calls use(number in near.points, modes of degrees 0 to lmax) where order m counts, with modes
  /// of quad precision.
  template <class Use>
  void for_modes_of_order(int m, const NearPoles& near, const Use& use) const {
    std::optional<DirectHarmonics> scalar;
    std::optional<DirectSpinModes> of_spin;
    const int spin = spec.fields.max_spin();
    if (spin == 0) {
      scalar.emplace(lmax, m, 0);
    } else {
      of_spin.emplace(lmax, m, spin);
    }
    for (std::size_t k = 0; k < near.points.size(); ++k) {
      const Ring& ring = ring_of(near.points[k]);
      if (m > most_m_on(ring)) continue;
      if (of_spin) {
        use(k, of_spin->at(ring));
        continue;
      }
      std::vector<SpinMode> modes;
      for (const long double lambda : scalar->at(ring)) modes.push_back({lambda, 0});
      use(k, modes);
    }
  }
  LongComplex turn(int m, std::int64_t point) const {
    return std::polar(1.0L, m * static_cast<long double>(ring_of(point).phi0));
  }

  /// Sums in quad precision, orders side by side.
  void sum_next_to_poles(const AlmBuffer<double>& alm, ComponentView<double> values) const {
    const NearPoles near = next_to_poles();
    const AlmLayout& layout = rings->transform->alm_layout();
    using Modes = std::array<LongComplex, 2>;
    std::vector<std::vector<Modes>> sums(to_size(near.most_m + 1),
                                         std::vector<Modes>(near.points.size()));
#pragma omp parallel for schedule(dynamic)
    for (int m = 0; m <= near.most_m; ++m) {
      const auto a = [&](std::int64_t component, int l) {
        return LongComplex(alm.view().component(component)[layout.index(layout.row_of(m), l)]);
      };
      for_modes_of_order(m, near, [&](std::size_t k, const std::vector<SpinMode>& modes) {
        auto& [mode, other] = sums[to_size(m)][k];
        for (int l = m; l <= lmax; ++l) {
          const SpinMode& of_l = modes[to_size(l)];
          mode += of_l.gradient * a(0, l);
          if (alm.n_components() == 1) continue;
          mode += imaginary * of_l.curl * a(1, l);
          other += of_l.gradient * a(1, l) - imaginary * of_l.curl * a(0, l);
        }
      });
    }
    for (std::size_t k = 0; k < near.points.size(); ++k) {
      Modes sum{};
      for (int m = 0; m <= near.most_m; ++m) {
        for (std::size_t c = 0; c < sum.size(); ++c)
          sum[c] += (m == 0 ? 1.0L : 2.0L) * turn(m, near.points[k]) * sums[to_size(m)][k][c];
      }
      for (std::int64_t c = 0; c < values.n_components(); ++c)
        values.component(c)[near.points[k]] = static_cast<double>(sum[to_size(c)].real());
    }
  }
  /// The transpose, added to a_lm.
  void add_from_next_to_poles(const ComponentBuffer<double>& values, AlmView<double> alm) const {
    const NearPoles near = next_to_poles();
    const AlmLayout& layout = rings->transform->alm_layout();
#pragma omp parallel for schedule(dynamic)
    for (int m = 0; m <= near.most_m; ++m) {
      std::vector<std::array<LongComplex, 2>> sums(to_size(lmax + 1));
      for_modes_of_order(m, near, [&](std::size_t k, const std::vector<SpinMode>& modes) {
        std::array<LongComplex, 2> turned{};
        for (std::int64_t c = 0; c < alm.n_components(); ++c) {
          const long double value = values.view().component(c)[near.points[k]];
          turned[to_size(c)] = std::conj(turn(m, near.points[k])) * value;
        }
        for (int l = m; l <= lmax; ++l) {
          const SpinMode& of_l = modes[to_size(l)];
          auto& [gradient, curl] = sums[to_size(l)];
          gradient += of_l.gradient * turned[0] + imaginary * of_l.curl * turned[1];
          curl += of_l.gradient * turned[1] - imaginary * of_l.curl * turned[0];
        }
      });
      for (int l = m; l <= lmax; ++l) {
        for (std::int64_t c = 0; c < alm.n_components(); ++c)
          alm.component(c)[layout.index(layout.row_of(m), l)] +=
              std::complex<double>(sums[to_size(l)][to_size(c)]);
      }
    }
  }
};

PointTransform planned(const PointSpec& spec, const Directions& points) {
  const Communicator comm = Communicator::self();
  return {comm, spec, PointSet(comm, spec, points.theta, points.phi)};
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
  const AlmBuffer<double> alm = normal_alm(direct.spec.fields);
  const ComponentBuffer<double> expected = direct.values(alm);
  for (int n = 2; n <= n_decades; n += step) {
    PointSpec spec = direct.spec;
    spec.epsilon = decade(n);
    PointTransform transform = planned(spec, direct.points);
    auto values = transform.make_values<double>();
    transform.evaluate(alm, values);
    const Communicator self = Communicator::self();
    const RelativeError error = relative_error(self, values, expected);
    const double bound = tolerance::at_points(spec.epsilon, lmax);
    expect_within(relative_error(self, direct.off_poles(values), direct.off_poles(expected)),
                  bound);
    EXPECT_LE(error.max, bound * tolerance::max_over_rms);
    // A quarter of the points are next to the poles. Rounding grows there as l^1.5
    // (docs/accuracy.md) and rules the rms of all at the highest degrees.
    if (lmax <= 2047) {
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
  const DirectSums direct(GetParam(), points);
  for (const int m : {0, lmax}) {
    const AlmBuffer<double> alm = single_mode(direct.spec.fields, lmax, m);
    const ComponentBuffer<double> expected = direct.values(alm);
    for (int n = 2; n <= n_decades; n += 2 * step) {
      PointSpec spec = direct.spec;
      spec.epsilon = decade(n);
      expect_within(error_of(spec, points, alm, expected),
                    tolerance::at_points(spec.epsilon, lmax));
    }
  }
}

/// Where taps have the offset zero.
TEST_P(PointAccuracy, OnFineSamplesMeetsEpsilon) {
  for (const double epsilon : {1e-4, 1e-12}) {
    PointSpec spec = spec_of(lmax, {GetParam()}, epsilon);
    // The number of points chooses the fine samples, on which they then are.
    const std::int64_t n = n_points / 2;
    const PointReport fine = planned(spec, scattered_points(n)).points().report();
    Directions nodes;
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t row = i * (fine.fine_rows - 1) / (n - 1);
      const std::int64_t column = i * 7 % fine.fine_columns;
      const auto rows = static_cast<double>(fine.fine_rows);
      const auto columns = static_cast<double>(fine.fine_columns);
      nodes.add(std::numbers::pi * (static_cast<double>(row) + 0.5) / rows,
                2 * std::numbers::pi * static_cast<double>(column) / columns);
    }
    const DirectSums direct(GetParam(), nodes);
    const AlmBuffer<double> alm = normal_alm(direct.spec.fields);
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
  transform.evaluate(normal_alm(FieldSet({GetParam()})), values);
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
  // measure. At high degrees the rounding of Legendre functions there rules it (docs/accuracy.md).
  if (lmax <= 256) {
    EXPECT_LE(relative_error(comm, expected, direct.adjoint(values)).rms,
              tolerance::at_points(spec.epsilon, lmax));
  }
  for (int n = 2; n <= n_decades; n += 2 * step) {
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
