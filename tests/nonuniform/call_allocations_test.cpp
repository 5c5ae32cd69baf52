// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "nonuniform/lensing_problem.hpp"
#include "nonuniform/point_problem.hpp"
#include "ringweave/lensing.hpp"
#include "ringweave/points.hpp"
#include "support/counted_allocations.hpp"
#include "support/sanitizer.hpp"

namespace ringweave::detail::test {
namespace {

template <class T>
void expect_transforms_allocate_nothing(PointTransform& transform, const FieldSet& fields) {
  AlmBuffer<T> alm = random_alm<T>(transform.alm_layout(), fields);
  auto values = transform.make_values<T>();
  expect_no_allocations([&] { transform.evaluate(alm, values); });
  expect_no_allocations([&] { transform.adjoint(values, alm); });
  expect_no_allocations(
      [&] { transform.adjoint<T>(std::as_const(values).view(), alm.view(), Accumulate::add); });
}

class CallAllocations : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (is_sanitized()) GTEST_SKIP() << "a sanitizer has allocations of its own";
    omp_set_num_threads(GetParam());
  }
  void TearDown() override { omp_set_num_threads(1); }
};

TEST_P(CallAllocations, OfTransformsToPointsAreNone) {
  const Communicator comm = Communicator::world();
  const Dealt mine = deal(comm, scattered_points(200), Deal::in_turn);
  // The last needs several passes on several ranks.
  for (const PointSpec& spec :
       {spec_of(60, {0}, 1e-6), spec_of(60, {0, 2}, 1e-6), spec_of(400, {0, 2}, 1e-8)}) {
    PointTransform transform(comm, spec, PointSet(comm, spec, mine.theta, mine.phi));
    expect_transforms_allocate_nothing<double>(transform, spec.fields);
    expect_transforms_allocate_nothing<float>(transform, spec.fields);
    const std::vector<double> psi(mine.theta.size(), 0.3);
    if (spec.fields.n_components() == 1) continue;
    PointTransform detectors(comm, spec, PointSet(comm, spec, mine.theta, mine.phi, psi));
    expect_transforms_allocate_nothing<double>(detectors, spec.fields);
  }
}

TEST_P(CallAllocations, OfAFieldAtItsPointsAreNone) {
  const Communicator comm = Communicator::world();
  const Dealt mine = deal(comm, scattered_points(200), Deal::in_turn);
  const PointSpec spec = spec_of(60, {0, 1}, 1e-6);
  FineField field(comm, spec, 200);
  field.set(random_alm(field.alm_layout(), spec.fields));
  const PointSet points(field, mine.theta, mine.phi);
  ComponentBuffer<double> values(3, points.size());
  expect_no_allocations([&] { field.evaluate(points, values); });
}

/// The deflection of a map whose pixels go far, so that several ranks sum some.
Deflection far_deflection(const Communicator& comm, double convergence) {
  return {comm, shared(RingGrid::gauss_legendre(24, 600)),
          RandomPotential(comm, 5, convergence).view()};
}

TEST_P(CallAllocations, OfLensingAreNone) {
  const Communicator comm = Communicator::world();
  const Deflection deflection = far_deflection(comm, 2.0);
  const PointSpec spec = spec_of(30, {0, 2}, 1e-6);
  Lensing lensing(comm, deflection, spec);
  AlmBuffer<double> alm = random_alm(lensing.alm_layout(), spec.fields);
  MapBuffer<double> map = lensing.make_map<double>();
  expect_no_allocations([&] { lensing.lens(alm, map); });
  expect_no_allocations([&] { lensing.adjoint(map, alm); });
  Directions ends;
  ends.theta.resize(to_size(map.size()));
  ends.phi.resize(ends.theta.size());
  expect_no_allocations([&] {
    deflection.positions({ends.theta.data(), map.size()}, {ends.phi.data(), map.size()});
    deflection.rotation({ends.theta.data(), map.size()}, {ends.phi.data(), map.size()});
  });
  expect_no_allocations([&] { deflection.magnification({ends.theta.data(), map.size()}); });
}

template <class T>
MapBuffer<T> map_of_ones(const Delensing& delensing) {
  MapBuffer<T> map(3, delensing.rings().n_pixels());
  std::fill_n(map.view().data(), 3 * map.size(), T{1});
  return map;
}

TEST_P(CallAllocations, OfDelensingAreNone) {
  const Communicator comm = Communicator::world();
  const Deflection inverse = far_deflection(comm, 0.05).inverse();
  for (const int n_iter : {0, 2}) {
    Delensing delensing(comm, inverse, spec_of(23, {0, 2}, 1e-6), n_iter);
    const MapBuffer<double> map = map_of_ones<double>(delensing);
    MapBuffer<double> delensed = map_of_ones<double>(delensing);
    expect_no_allocations([&] { delensing.delens(map, delensed); });
    const MapBuffer<float> single = map_of_ones<float>(delensing);
    MapBuffer<float> delensed_single = map_of_ones<float>(delensing);
    expect_no_allocations([&] { delensing.delens(single, delensed_single); });
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, CallAllocations, testing::Values(1, 3),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace ringweave::detail::test
