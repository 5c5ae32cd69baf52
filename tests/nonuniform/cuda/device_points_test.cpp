// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/device.hpp"
#include "nonuniform/point_memory.hpp"
#include "nonuniform/point_problem.hpp"
#include "ringweave/points.hpp"
#include "support/on_devices.hpp"
#include "support/tolerance.hpp"

// The transform to points on a device against the host's.
namespace ringweave::detail::test {
namespace {

class PointsOnDevices : public OnDevices {};
INSTANTIATE_TEST_SUITE_P(Ranks, PointsOnDevices, every_rank_count(), name_of_rank_groups);

/// One transform and its points.
struct Planned {
  Planned(const Communicator& comm, PointSpec spec, Backend backend, const Dealt& points,
          std::span<const double> psi) {
    spec.backend = backend;
    transform = std::make_unique<PointTransform>(
        comm, spec, PointSet(comm, spec, points.theta, points.phi, psi));
  }
  std::unique_ptr<PointTransform> transform;

  ComponentBuffer<double> evaluate(const AlmBuffer<double>& alm) const {
    auto values = transform->make_values<double>();
    transform->evaluate(alm, values);
    return values;
  }
  AlmBuffer<double> adjoint(const ComponentBuffer<double>& values) const {
    auto alm = transform->make_alm<double>();
    transform->adjoint(values, alm);
    return alm;
  }
};

void expect_as_the_host(const Communicator& comm, const PointSpec& spec, std::int64_t n_points,
                        bool has_psi = false) {
  const Dealt mine = deal(comm, scattered_points(n_points), Deal::in_turn);
  const std::vector<double> psi = has_psi ? mine.phi : std::vector<double>();
  const Planned host(comm, spec, Backend::host, mine, psi);
  const Planned device(comm, spec, Backend::cuda, mine, psi);
  const auto alm = random_alm(host.transform->alm_layout(), spec.fields);
  const ComponentBuffer<double> seen = device.evaluate(alm);
  if (n_points > 0) expect_within(relative_error(comm, seen, host.evaluate(alm)), as_the_host);
  const auto values = normal_values(*host.transform, mine.numbers);
  const AlmBuffer<double> found = device.adjoint(values);
  expect_within(relative_error(comm, found, host.adjoint(values)), as_the_host);
  // Bit by bit.
  const AlmBuffer<double> again = device.adjoint(values);
  for (std::int64_t i = 0; i < found.n_components() * found.size(); ++i)
    ASSERT_EQ(found.view().data()[i], again.view().data()[i]) << i;
}

TEST_P(PointsOnDevices, AreThoseOfTheHostInASmallCase) {
  expect_as_the_host(comm(), spec_of(9, {0}, 1e-4), 40);
  expect_as_the_host(comm(), spec_of(9, {2}, 1e-9), 25);
}

TEST_P(PointsOnDevices, AreThoseOfTheHostForAllSpins) {
  expect_as_the_host(comm(), spec_of(14, {0, 1, 2, 3}, 1e-7, 11), 70);
}

// More columns than a block has.
TEST_P(PointsOnDevices, AreThoseOfTheHostOnLongRows) {
  expect_as_the_host(comm(), spec_of(60, {0}, 1e-2), 60);
}

TEST_P(PointsOnDevices, AreThoseOfTheHostForDetectors) {
  expect_as_the_host(comm(), spec_of(10, {0, 2}, 1e-3), 30, true);
}

TEST_P(PointsOnDevices, MayBeFewOrNone) {
  for (const std::int64_t n_points : {0, 1, 2})
    expect_as_the_host(comm(), spec_of(5, {0}, 1e-2), n_points);
}

TEST_P(PointsOnDevices, TakeAsMuchOfTheDeviceAsIsPlannedInASmallCase) {
  if (Communicator::world().size() > 1 || !is_in_software())
    GTEST_SKIP() << "other ranks, or the driver, change the free memory";
  constexpr std::int64_t n_points = 4000;
  const Dealt mine = deal(comm(), scattered_points(n_points), Deal::in_turn);
  for (const std::vector<int>& spins : {std::vector{0}, std::vector{0, 2}}) {
    const PointSpec spec = spec_of(47, spins, 1e-6);
    const std::int64_t before = device_memory().free_bytes;
    const Planned device(comm(), spec, Backend::cuda, mine, {});
    const auto taken = static_cast<double>(before - device_memory().free_bytes);
    const auto planned = static_cast<double>(
        device_memory_of_points(device.transform->plan(), n_points, FrameRotation::none).total());
    EXPECT_NEAR(taken, planned, tolerance::predicted_memory * planned);
  }
}

TEST_P(PointsOnDevices, OfFloatsAreThoseOfTheHost) {
  const Dealt mine = deal(comm(), scattered_points(30), Deal::few_ranks);
  const PointSpec spec = spec_of(9, {0}, 1e-3);
  const Planned host(comm(), spec, Backend::host, mine, {});
  const Planned device(comm(), spec, Backend::cuda, mine, {});
  const auto alm = random_alm<float>(host.transform->alm_layout(), spec.fields);
  auto expected = host.transform->make_values<float>();
  auto found = device.transform->make_values<float>();
  host.transform->evaluate(alm, expected);
  device.transform->evaluate(alm, found);
  expect_within(relative_error(comm(), found, expected), tolerance::single_storage);
}

}  // namespace
}  // namespace ringweave::detail::test
