// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "bench/sent_bytes.hpp"
#include "nonuniform/point_problem.hpp"
#include "ringweave/points.hpp"
#include "support/expect_error.hpp"
#include "support/rank_groups.hpp"
#include "support/tolerance.hpp"

namespace ringweave::detail::test {
namespace {

// Larger fields, one at a time: point_accuracy_test.cpp.
TEST(PointTransform, ValuesAreThoseOfTheFields) {
  on_every_rank_count([&](const Communicator& comm) {
    const Directions points = scattered_points(160);
    for (const auto& spins : {std::vector{0}, {2}, {0, 1, 3}}) {
      const PointSpec any = spec_of(130, spins, 1e-2);
      const ComponentBuffer<double> expected = expected_values(any, points);
      const double step = comm.size() == 1 ? 10 : 1e4;
      for (double epsilon = 1e-2; epsilon > 1e-13; epsilon /= step) {
        const PointSpec spec = spec_of(130, spins, epsilon);
        const Dealt mine = deal(comm, points, Deal::in_turn);
        PointTransform transform(comm, spec, PointSet(comm, spec, mine.theta, mine.phi));
        auto values = transform.make_values<double>();
        transform.evaluate(random_alm(transform.alm_layout(), spec.fields), values);
        expect_within(relative_error(comm, values, of_numbers(expected, mine.numbers)),
                      tolerance::at_points(epsilon, spec.lmax));
      }
    }
  });
}

/// Angles of detectors at the points with these numbers.
std::vector<double> psi_of(const std::vector<std::int64_t>& numbers) {
  std::vector<double> psi;
  for (const std::int64_t number : numbers) psi.push_back(0.1 + 0.37 * static_cast<double>(number));
  return psi;
}

/// Returns |<Y a, f> - <a, Y^T f>| over ||Y a|| ||f|| / sqrt(N). Collective.
double adjoint_gap(const Communicator& comm, PointTransform& transform, const PointSpec& spec,
                   const Dealt& mine) {
  const auto alm = random_alm(transform.alm_layout(), spec.fields);
  auto values = transform.make_values<double>();
  transform.evaluate(alm, values);
  const auto other = normal_values(transform, mine.numbers);
  auto back = transform.make_alm<double>();
  transform.adjoint(other, back);
  long double local = 0;
  for (std::int64_t i = 0; i < other.n_components() * other.size(); ++i)
    local += static_cast<long double>(values.view().data()[i]) * other.view().data()[i];
  const double at_points = comm.sum(static_cast<double>(local));
  const double of_alm =
      inner_product<double>(comm, transform.alm_layout(), alm.view(), back.view());
  const double norms = std::sqrt(squared_norm<double>(comm, values.view()) *
                                 squared_norm<double>(comm, other.view()));
  const auto n = static_cast<double>(comm.sum(other.n_components() * other.size()));
  return std::abs(at_points - of_alm) / (norms / std::sqrt(n));
}

TEST(PointTransform, AdjointIsTheTranspose) {
  on_every_rank_count([&](const Communicator& comm) {
    const Directions points = scattered_points(300);
    for (const double epsilon : {1e-2, 1e-12}) {
      const PointSpec spec = spec_of(100, {0, 2}, epsilon, 90);
      const Dealt mine = deal(comm, points, Deal::backwards);
      PointTransform transform(comm, spec, PointSet(comm, spec, mine.theta, mine.phi));
      EXPECT_LT(adjoint_gap(comm, transform, spec, mine), tolerance::adjoint);
    }
  });
}

TEST(PointTransform, AdjointIsTheTransposeWhereNoPointTouchesTheRowsBetween) {
  const Communicator self = Communicator::self();
  const PointSpec spec = spec_of(100, {0}, 0.1);
  const auto plan = [&](const Dealt& mine) { return PointSet(self, spec, mine.theta, mine.phi); };
  constexpr int most_apart = 8;
  const Directions any = scattered_points(2 * most_apart);
  const PointReport report = plan(deal(self, any, Deal::in_turn)).report();
  ASSERT_EQ(report.theta_taps, 3);
  const double row = std::numbers::pi / static_cast<double>(report.fine_rows);
  Directions pairs;
  for (int apart = 1; apart <= most_apart; ++apart) {
    const double theta = (12 * apart + 0.3) * row;
    pairs.add(theta, 1.0);
    pairs.add(theta + apart * row, 1.0);
  }
  const Dealt mine = deal(self, pairs, Deal::in_turn);
  PointTransform transform(self, spec, plan(mine));
  EXPECT_LT(adjoint_gap(self, transform, spec, mine), tolerance::adjoint);
}

TEST(PointTransform, AdjointIsTheTransposeForDetectorsAndBatches) {
  on_every_rank_count([&](const Communicator& comm) {
    const Dealt mine = deal(comm, scattered_points(100), Deal::in_turn);
    for (const double epsilon : {1e-2, 1e-12}) {
      for (const std::vector<int>& spins : {std::vector{0, 2}, std::vector{2}}) {
        const PointSpec seen = spec_of(40, spins, epsilon);
        PointTransform detectors(comm, seen,
                                 PointSet(comm, seen, mine.theta, mine.phi, psi_of(mine.numbers)));
        EXPECT_LT(adjoint_gap(comm, detectors, seen, mine), tolerance::adjoint);
      }
      const PointSpec batch = spec_of(40, {0, 0, 0, 2, 1, 3}, epsilon);
      PointTransform transform(comm, batch, PointSet(comm, batch, mine.theta, mine.phi));
      EXPECT_LT(adjoint_gap(comm, transform, batch, mine), tolerance::adjoint);
    }
  });
}

TEST(PointTransform, FloatsAreDoublesRoundedOnce) {
  on_every_rank_count([&](const Communicator& comm) {
    const Dealt mine = deal(comm, scattered_points(100), Deal::in_turn);
    const PointSpec spec = spec_of(40, {0, 2}, 1e-6);
    PointTransform transform(comm, spec, PointSet(comm, spec, mine.theta, mine.phi));
    const AlmBuffer<float> alm = random_alm<float>(transform.alm_layout(), spec.fields);
    auto same_alm = transform.make_alm<double>();
    std::copy_n(alm.view().data(), alm.n_components() * alm.size(), same_alm.view().data());
    auto values = transform.make_values<float>();
    transform.evaluate(alm, values);
    auto expected = transform.make_values<double>();
    transform.evaluate(same_alm, expected);
    for (std::int64_t i = 0; i < values.n_components() * values.size(); ++i)
      ASSERT_EQ(values.view().data()[i], static_cast<float>(expected.view().data()[i])) << i;

    auto same_values = transform.make_values<double>();
    std::copy_n(values.view().data(), values.n_components() * values.size(),
                same_values.view().data());
    auto back = transform.make_alm<float>();
    transform.adjoint(values, back);
    auto expected_alm = transform.make_alm<double>();
    transform.adjoint(same_values, expected_alm);
    for (std::int64_t i = 0; i < back.n_components() * back.size(); ++i)
      ASSERT_EQ(back.view().data()[i], std::complex<float>(expected_alm.view().data()[i])) << i;
  });
}

TEST(PointTransform, DetectorsSeeTemperatureAndPolarisation) {
  on_every_rank_count([&](const Communicator& comm) {
    const Directions points = scattered_points(150);
    const Dealt mine = deal(comm, points, Deal::backwards);
    const std::vector<double> psi = psi_of(mine.numbers);
    const PointSpec spec = spec_of(70, {0, 2}, 1e-12);
    const ComponentBuffer<double> fields = of_numbers(expected_values(spec, points), mine.numbers);
    PointTransform transform(comm, spec, PointSet(comm, spec, mine.theta, mine.phi, psi));
    ASSERT_EQ(transform.points().n_components(), 1);
    auto values = transform.make_values<double>();
    transform.evaluate(random_alm(transform.alm_layout(), spec.fields), values);
    auto expected = transform.make_values<double>();
    for (std::int64_t i = 0; i < expected.size(); ++i) {
      const double twice = 2 * psi[to_size(i)];
      expected.view().component(0)[i] = fields.view().component(0)[i] +
                                        fields.view().component(1)[i] * std::cos(twice) +
                                        fields.view().component(2)[i] * std::sin(twice);
    }
    expect_within(relative_error(comm, values, expected),
                  tolerance::at_points(spec.epsilon, spec.lmax));
  });
}

TEST(PointTransform, ValuesDoNotDependOnRanksAndDeal) {
  const Directions points = scattered_points(200);
  const PointSpec spec = spec_of(60, {0, 2}, 1e-6);
  const Dealt all = deal(Communicator::self(), points, Deal::in_turn);
  PointTransform alone(Communicator::self(), spec,
                       PointSet(Communicator::self(), spec, all.theta, all.phi));
  auto expected = alone.make_values<double>();
  alone.evaluate(random_alm(alone.alm_layout(), spec.fields), expected);
  on_every_rank_count([&](const Communicator& comm) {
    for (const Deal how : {Deal::in_turn, Deal::all_on_last, Deal::backwards, Deal::few_ranks}) {
      const Dealt mine = deal(comm, points, how);
      PointTransform transform(comm, spec, PointSet(comm, spec, mine.theta, mine.phi));
      auto values = transform.make_values<double>();
      transform.evaluate(random_alm(transform.alm_layout(), spec.fields), values);
      expect_within(relative_error(comm, values, of_numbers(expected, mine.numbers)),
                    tolerance::rank_invariance);
    }
  });
}

TEST(PointTransform, ModesGoThroughOneAlltoallvAndValuesThroughNone) {
  on_every_rank_count([&](const Communicator& comm) {
    const PointSpec spec = spec_of(50, {0, 2}, 1e-6);
    const Dealt mine = deal(comm, scattered_points(500), Deal::in_turn);
    PointTransform transform(comm, spec, PointSet(comm, spec, mine.theta, mine.phi));
    auto alm = random_alm(transform.alm_layout(), spec.fields);
    auto values = transform.make_values<double>();
    const std::int64_t before = mpi_alltoallvs();
    transform.evaluate(alm, values);
    const std::int64_t between = mpi_alltoallvs();
    transform.adjoint(values, alm);
    const std::int64_t expected = comm.size() == 1 ? 0 : 1;
    EXPECT_EQ(between - before, expected);
    EXPECT_EQ(mpi_alltoallvs() - between, expected);
  });
}

/// The adjoint of the same values at every point, however they are dealt.
AlmBuffer<double> adjoint_of_points(const Communicator& comm, const PointSpec& spec,
                                    const Directions& points, Deal how, PointTransform* keep,
                                    bool has_psi = false) {
  const Dealt mine = deal(comm, points, how);
  const std::vector<double> psi = has_psi ? psi_of(mine.numbers) : std::vector<double>();
  PointTransform transform(comm, spec, PointSet(comm, spec, mine.theta, mine.phi, psi));
  const auto values = normal_values(transform, mine.numbers);
  auto alm = transform.make_alm<double>();
  transform.adjoint(values, alm);
  if (keep != nullptr) *keep = std::move(transform);
  return alm;
}

TEST(PointTransform, AdjointIsTheSameBitByBitForAnyRanksThreadsAndDeal) {
  // Specifications, and whether points have psi.
  const std::pair<PointSpec, bool> cases[] = {{spec_of(80, {0, 2}, 1e-6), false},
                                              {spec_of(80, {0, 2}, 1e-6), true},
                                              {spec_of(80, {3, 0, 2}, 1e-12, 50), false},
                                              {spec_of(80, {0}, 1e-2), false}};
  // With psi, those at one place have different ones.
  Directions points = scattered_points(500);
  for (int i = 0; i < 100; ++i) points.add(points.theta[to_size(i)], points.phi[to_size(i)]);
  on_every_rank_count([&](const Communicator& comm) {
    for (const auto& [spec, has_psi] : cases) {
      SCOPED_TRACE(has_psi ? "with psi" : "without psi");
      const auto alone =
          adjoint_of_points(Communicator::self(), spec, points, Deal::in_turn, nullptr, has_psi);
      for (const Deal how : {Deal::in_turn, Deal::all_on_last, Deal::backwards, Deal::few_ranks}) {
        omp_set_num_threads(how == Deal::in_turn ? 3 : 1);
        PointSet none(comm, spec, {}, {});
        PointTransform kept(comm, spec, none);
        const auto alm = adjoint_of_points(comm, spec, points, how, &kept, has_psi);
        expect_same_alm(kept.alm_layout(), alm, alone);
        omp_set_num_threads(1);
      }
    }
  });
}

TEST(PointTransform, ValuesAreTheSameBitByBitForAnyThreads) {
  const Communicator comm = Communicator::world();
  // Many rows of tiles, also such without points, so that threads cut them differently.
  Directions points = scattered_points(400);
  for (double& theta : points.theta) {
    if (theta > 0.8 && theta < 1.4) theta += 0.7;
  }
  const PointSpec spec = spec_of(230, {0, 2}, 1e-4);
  const Dealt mine = deal(comm, points, Deal::in_turn);
  const PointSet set(comm, spec, mine.theta, mine.phi);
  std::vector<ComponentBuffer<double>> values;
  for (const int threads : {1, 2, 5}) {
    omp_set_num_threads(threads);
    PointTransform transform(comm, spec, set);
    values.push_back(transform.make_values<double>());
    transform.evaluate(random_alm(transform.alm_layout(), spec.fields), values.back());
  }
  omp_set_num_threads(1);
  for (std::int64_t i = 0; i < values[0].n_components() * values[0].size(); ++i) {
    ASSERT_EQ(values[1].view().data()[i], values[0].view().data()[i]);
    ASSERT_EQ(values[2].view().data()[i], values[0].view().data()[i]);
  }
}

template <class Element>
ComponentBuffer<Element> components_of(const ComponentBuffer<Element>& all, std::int64_t first,
                                       std::int64_t n) {
  ComponentBuffer<Element> some(n, all.size());
  std::copy_n(all.view().component(first).data(), n * all.size(), some.view().data());
  return some;
}

/// A batch of fields and its results.
struct Batch {
  Batch(const Communicator& comm, const PointSpec& of_batch, const Dealt& points)
      : spec(of_batch),
        transform(comm, spec, PointSet(comm, spec, points.theta, points.phi)),
        alm(random_alm(transform.alm_layout(), spec.fields)),
        values(transform.make_values<double>()),
        back(transform.make_alm<double>()) {
    transform.evaluate(alm, values);
    transform.adjoint(values, back);
  }

  PointSpec spec;
  PointTransform transform;
  AlmBuffer<double> alm;
  ComponentBuffer<double> values;
  AlmBuffer<double> back;  ///< adjoint of the values
};

/// Fields of these spins, which are components of a batch from `first` on, without the others.
struct Alone {
  Alone(const Communicator& comm, const Batch& batch, const Dealt& points,
        const std::vector<int>& spins, std::int64_t first)
      : spec(spec_of(batch.spec.lmax, spins, batch.spec.epsilon)),
        transform(comm, spec, PointSet(comm, spec, points.theta, points.phi)),
        values(transform.make_values<double>()),
        back(transform.make_alm<double>()) {
    const std::int64_t n = spec.fields.n_components();
    transform.evaluate<double>(batch.alm.view().components(first, n), values.view());
    transform.adjoint(values, back);
    expected_values = components_of(batch.values, first, n);
    expected_back = components_of(batch.back, first, n);
    const PointReport& report = transform.points().report();
    const PointReport& of_batch = batch.transform.points().report();
    EXPECT_EQ(report.theta_taps, of_batch.theta_taps);
    EXPECT_EQ(report.phi_taps, of_batch.phi_taps);
    EXPECT_EQ(report.fine_rows, of_batch.fine_rows);
    EXPECT_EQ(report.fine_columns, of_batch.fine_columns);
  }

  PointSpec spec;
  PointTransform transform;
  ComponentBuffer<double> values;
  AlmBuffer<double> back;
  ComponentBuffer<double> expected_values;  ///< in the batch
  AlmBuffer<double> expected_back;
};

TEST(PointTransform, FieldsOfABatchAreTheSameBitByBitInBatchesOfOtherSizes) {
  const Communicator comm = Communicator::world();
  const Dealt mine = deal(comm, scattered_points(200), Deal::in_turn);
  // All have the same taps. Nine components of scalars, up to ten with spin.
  for (const auto& [spin, n_fields] : {std::pair{0, 9}, {1, 4}, {2, 5}, {3, 2}}) {
    const Batch batch(comm, spec_of(60, std::vector<int>(to_size(n_fields), spin), 1e-12), mine);
    for (const int n : {1, 2, 3, 8}) {
      if (n >= n_fields) continue;
      SCOPED_TRACE(std::to_string(n) + " of spin " + std::to_string(spin));
      const Alone alone(comm, batch, mine, std::vector<int>(to_size(n), spin), 0);
      EXPECT_TRUE(same_bits(alone.values, alone.expected_values));
      EXPECT_TRUE(same_bits(alone.back, alone.expected_back));
    }
  }
}

TEST(PointTransform, FieldsBesideOthersOfAnySpinAreTheSameBitByBitAsAlone) {
  const Communicator comm = Communicator::world();
  const Dealt mine = deal(comm, scattered_points(200), Deal::in_turn);
  // From degree 100 on fields with spin are summed as scalars far from the poles.
  const std::pair<int, std::vector<int>> batches[] = {
      {60, {0, 2}},  {60, {2, 2, 0}},  {60, {3, 1, 0}}, {60, {2, 0, 2, 0, 2, 1}},
      {230, {2, 0}}, {230, {0, 1, 3}}, {20, {0, 30}},
  };
  for (const auto& [lmax, spins] : batches) {
    const Batch batch(comm, spec_of(lmax, spins, 1e-12), mine);
    for (const FieldSet::Field& field : batch.spec.fields.fields()) {
      SCOPED_TRACE(testing::PrintToString(spins) + ", spin " + std::to_string(field.spin));
      const Alone alone(comm, batch, mine, {field.spin}, field.first_component);
      EXPECT_TRUE(same_bits(alone.values, alone.expected_values));
      EXPECT_TRUE(same_bits(alone.back, alone.expected_back));
    }
  }
}

TEST(PointTransform, FewPointsOfManyModesGoInPasses) {
  const Communicator comm = Communicator::world();
  // On several ranks the sums of so few points have no room for the modes of one pass.
  const Directions points = scattered_points(40);
  const PointSpec spec = spec_of(400, {0, 2}, 1e-8);
  const Dealt mine = deal(comm, points, Deal::in_turn);
  PointTransform transform(comm, spec, PointSet(comm, spec, mine.theta, mine.phi));
  auto values = transform.make_values<double>();
  transform.evaluate(random_alm(transform.alm_layout(), spec.fields), values);
  expect_within(
      relative_error(comm, values, of_numbers(expected_values(spec, points), mine.numbers)),
      tolerance::at_points(spec.epsilon, spec.lmax));
  const auto alone = adjoint_of_points(Communicator::self(), spec, points, Deal::in_turn, nullptr);
  const auto alm = adjoint_of_points(comm, spec, points, Deal::in_turn, &transform);
  expect_same_alm(transform.alm_layout(), alm, alone);
}

TEST(PointTransform, NoPointsGiveZeroAlm) {
  const Communicator comm = Communicator::world();
  const PointSpec spec = spec_of(20, {0}, 1e-6);
  PointTransform transform(comm, spec, PointSet(comm, spec, {}, {}));
  auto alm = transform.make_alm<double>();
  transform.adjoint(transform.make_values<double>(), alm);
  for (std::int64_t i = 0; i < alm.size(); ++i) EXPECT_EQ(std::abs(alm.view().data()[i]), 0);
}

TEST(PointTransform, BadSpecificationsAreRefused) {
  const Communicator comm = Communicator::world();
  const std::vector<double> angle{1.0};
  expect_error(ErrorKind::usage, "epsilon = 1e-15; expected 1e-13 to 0.1",
               [&] { PointSet(comm, spec_of(20, {0}, 1e-15), angle, angle); });
  expect_error(ErrorKind::usage, "points with psi need the fields T, Q, U or Q, U",
               [&] { PointSet(comm, spec_of(20, {0}, 1e-5), angle, angle, angle); });
  const PointSet points(comm, spec_of(20, {0}, 1e-5), angle, angle);
  expect_error(ErrorKind::usage, "planned for another specification",
               [&] { PointTransform(comm, spec_of(21, {0}, 1e-5), points); });
}

TEST(PointTransform, PointsOfOtherRanksAreRefused) {
  const Communicator comm = Communicator::world();
  const PointSpec spec = spec_of(20, {0}, 1e-5);
  const PointSet points(comm, spec, {}, {});
  EXPECT_NO_THROW(PointTransform(Communicator::world(), spec, points)) << "the same ranks";
  if (comm.size() == 1) {
    EXPECT_NO_THROW(PointTransform(Communicator::self(), spec, points));
    return;
  }
  for (const Communicator& other : {Communicator::self(), comm.split(0, comm.size() - comm.rank())})
    expect_error(ErrorKind::usage, "points made with a communicator of",
                 [&] { PointTransform(other, spec, points); });
}

}  // namespace
}  // namespace ringweave::detail::test
