// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <complex>
#include <vector>

#include "base/device.hpp"
#include "nonuniform/point_problem.hpp"
#include "ringweave/points.hpp"
#include "support/expect_error.hpp"
#include "support/rank_groups.hpp"
#include "support/tolerance.hpp"

namespace ringweave::detail::test {
namespace {

void expect_equal(const ComponentBuffer<double>& a, const ComponentBuffer<double>& b) {
  for (std::int64_t i = 0; i < a.n_components() * a.size(); ++i)
    ASSERT_EQ(a.view().data()[i], b.view().data()[i]) << i;
}

TEST(FineField, ValuesOfEverySetOfPointsAreThoseOfTheField) {
  const Communicator comm = Communicator::world();
  const PointSpec spec = spec_of(90, {0, 1}, 1e-8, 80);
  FineField field(comm, spec, 500);
  field.set(random_alm(field.alm_layout(), spec.fields));
  for (const unsigned which : {1u, 2u}) {
    const Directions points = scattered_points(which == 1 ? 160 : 40, which);
    const Dealt mine = deal(comm, points, which == 1 ? Deal::in_turn : Deal::all_on_last);
    ComponentBuffer<double> values(3, ssize64(mine.numbers));
    field.evaluate(PointSet(field, mine.theta, mine.phi), values);
    expect_within(
        relative_error(comm, values, of_numbers(expected_values(spec, points), mine.numbers)),
        tolerance::at_points(spec.epsilon, spec.lmax));
  }
}

TEST(FineField, ValuesAreThoseOfRowsInBlocksBitByBit) {
  const Communicator comm = Communicator::self();
  const Directions points = scattered_points(300);
  const PointSpec spec = spec_of(120, {0, 2}, 1e-6);
  const PointSet set(comm, spec, points.theta, points.phi);
  PointTransform transform(comm, spec, set);
  const auto alm = random_alm(transform.alm_layout(), spec.fields);
  auto in_blocks = transform.make_values<double>();
  transform.evaluate(alm, in_blocks);

  FineField field(comm, spec, points.size());
  field.set(random_alm(field.alm_layout(), FieldSet({2, 0})));
  field.set(alm);
  ComponentBuffer<double> whole(3, points.size());
  field.evaluate(PointSet(field, points.theta, points.phi), whole);
  expect_equal(whole, in_blocks);
}

/// The adjoint of values 1, 2, 3, ... at points.
AlmBuffer<double> adjoint_of_numbers(PointTransform& transform,
                                     const std::vector<std::int64_t>& numbers) {
  auto values = transform.make_values<double>();
  for (std::int64_t i = 0; i < values.size(); ++i)
    values.view().data()[i] = static_cast<double>(numbers[to_size(i)] + 1);
  auto alm = transform.make_alm<double>();
  transform.adjoint(values, alm);
  return alm;
}

TEST(FineField, ItsPointsServeATransformAndItsAdjoint) {
  const Communicator comm = Communicator::world();
  const Directions points = scattered_points(50);
  const PointSpec spec = spec_of(60, {0}, 1e-6);
  const Communicator self = Communicator::self();
  const Dealt all = deal(self, points, Deal::backwards);
  PointTransform alone(self, spec, PointSet(self, spec, all.theta, all.phi));
  const Dealt mine = deal(comm, points, Deal::in_turn);
  const FineField field(comm, spec, points.size());
  PointTransform of_field(comm, spec, PointSet(field, mine.theta, mine.phi));
  expect_same_alm(of_field.alm_layout(), adjoint_of_numbers(of_field, mine.numbers),
                  adjoint_of_numbers(alone, all.numbers));
}

TEST(FineField, MisuseIsRefused) {
  const Communicator comm = Communicator::world();
  const std::vector<double> angle{1.0};
  const PointSpec spec = spec_of(20, {0}, 1e-5);
  FineField field(comm, spec, 1);
  const PointSet points(field, angle, angle);
  ComponentBuffer<double> values(1, 1);
  expect_error(ErrorKind::usage, "call set() before evaluate()",
               [&] { field.evaluate(points, values); });
  field.set(random_alm(field.alm_layout(), spec.fields));
  expect_error(ErrorKind::usage, "give the field to PointSet",
               [&] { field.evaluate(PointSet(comm, spec, angle, angle), values); });
  ComponentBuffer<double> wrong(1, 2);
  expect_error(ErrorKind::usage, "points of a component", [&] { field.evaluate(points, wrong); });
  expect_error(ErrorKind::usage, "expected 0 or more", [&] { FineField(comm, spec, -1); });
}

TEST(FineField, WithoutADeviceAFieldThatAsksForOneSaysSo) {
  if (device_count() > 0) GTEST_SKIP() << "there is a CUDA device";
  PointSpec on_device = spec_of(20, {0}, 1e-5);
  on_device.backend = Backend::cuda;
  expect_error(cuda_version().empty() ? ErrorKind::usage : ErrorKind::resource, "host backend",
               [&] { FineField(Communicator::world(), on_device, 1); });
}

}  // namespace
}  // namespace ringweave::detail::test
