// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/device.hpp"
#include "nonuniform/point_problem.hpp"
#include "ringweave/points.hpp"
#include "support/expect_error.hpp"
#include "support/on_devices.hpp"
#include "support/tolerance.hpp"

// Fields on the fine rows of a device against those of the host.
namespace ringweave::detail::test {
namespace {

class FieldsOnDevices : public OnDevices {};
INSTANTIATE_TEST_SUITE_P(Ranks, FieldsOnDevices, every_rank_count(), name_of_rank_groups);

PointSpec on_device(PointSpec spec) {
  spec.backend = Backend::cuda;
  return spec;
}

template <class T = double>
ComponentBuffer<T> values_at(FineField& field, const PointSet& points) {
  ComponentBuffer<T> values(points.n_components(), points.size());
  field.evaluate(points, values);
  return values;
}

/// Some sets of points, one after the other, some again after others and after other a_lm.
void expect_fields_as_the_host(const Communicator& comm, const PointSpec& spec,
                               bool has_psi = false) {
  FineField host(comm, spec, 100);
  FineField device(comm, on_device(spec), 100);
  const std::vector<Dealt> dealt = {deal(comm, scattered_points(60), Deal::in_turn),
                                    deal(comm, scattered_points(9, 2), Deal::few_ranks),
                                    deal(comm, scattered_points(0), Deal::in_turn)};
  std::vector<PointSet> at_host;
  std::vector<PointSet> at_device;
  for (const Dealt& mine : dealt) {
    const std::span<const double> psi = has_psi ? mine.phi : std::span<const double>();
    at_host.emplace_back(host, mine.theta, mine.phi, psi);
    at_device.emplace_back(device, mine.theta, mine.phi, psi);
  }
  for (const unsigned seed : {1u, 2u}) {
    AlmBuffer<double> alm = random_alm(host.alm_layout(), spec.fields);
    for (std::int64_t i = 0; i < alm.n_components() * alm.size(); ++i) alm.view().data()[i] *= seed;
    host.set(alm);
    device.set(alm);
    for (const std::size_t set : {0u, 1u, 2u, 0u}) {
      const auto expected = values_at(host, at_host[set]);
      const auto found = values_at(device, at_device[set]);
      if (set < 2) expect_within(relative_error(comm, found, expected), as_the_host);
    }
  }
}

TEST_P(FieldsOnDevices, AreThoseOfTheHostInASmallCase) {
  expect_fields_as_the_host(comm(), spec_of(9, {0}, 1e-4));
  expect_fields_as_the_host(comm(), spec_of(9, {2}, 1e-9));
}

TEST_P(FieldsOnDevices, AreThoseOfTheHostForAllSpins) {
  expect_fields_as_the_host(comm(), spec_of(14, {0, 1, 2, 3}, 1e-7, 11));
}

TEST_P(FieldsOnDevices, AreThoseOfTheHostForDetectors) {
  expect_fields_as_the_host(comm(), spec_of(10, {0, 2}, 1e-3), true);
}

TEST_P(FieldsOnDevices, OfFloatsAreThoseOfTheHost) {
  const PointSpec spec = spec_of(9, {0}, 1e-3);
  const Dealt mine = deal(comm(), scattered_points(30), Deal::all_on_last);
  FineField host(comm(), spec, 30);
  FineField device(comm(), on_device(spec), 30);
  const auto alm = random_alm<float>(host.alm_layout(), spec.fields);
  host.set(alm);
  device.set(alm);
  const auto found = values_at<float>(device, PointSet(device, mine.theta, mine.phi));
  const auto expected = values_at<float>(host, PointSet(host, mine.theta, mine.phi));
  expect_within(relative_error(comm(), found, expected), tolerance::single_storage);
}

TEST_P(FieldsOnDevices, TheirPointsServeATransform) {
  const PointSpec spec = on_device(spec_of(9, {0, 2}, 1e-5));
  const Dealt mine = deal(comm(), scattered_points(40), Deal::in_turn);
  FineField field(comm(), spec, 40);
  const PointSet points(field, mine.theta, mine.phi);
  PointTransform transform(comm(), spec, points);
  const auto alm = random_alm(transform.alm_layout(), spec.fields);
  auto expected = transform.make_values<double>();
  transform.evaluate(alm, expected);
  field.set(random_alm(field.alm_layout(), spec.fields));
  expect_within(relative_error(comm(), values_at(field, points), expected), as_the_host);
}

TEST_P(FieldsOnDevices, HaveThePointsOnTheDeviceAsLongAsTheirSetIsThereInASmallCase) {
  if (Communicator::world().size() > 1) GTEST_SKIP() << "other ranks change the free memory";
  const PointSpec spec = on_device(spec_of(9, {0}, 1e-4));
  const Dealt mine = deal(comm(), scattered_points(200), Deal::in_turn);
  std::optional<FineField> field(std::in_place, comm(), spec, 200);
  field->set(random_alm(field->alm_layout(), spec.fields));
  const auto free_bytes = [] { return device_memory().free_bytes; };
  const std::int64_t before = free_bytes();
  std::optional<PointSet> points(std::in_place, *field, mine.theta, mine.phi);
  values_at(*field, *points);
  const std::int64_t with_points = free_bytes();
  EXPECT_LT(with_points, before);
  field->set(random_alm(field->alm_layout(), spec.fields));
  values_at(*field, *points);
  EXPECT_EQ(free_bytes(), with_points);
  points.reset();
  EXPECT_EQ(free_bytes(), before);
  // Points may outlive the field.
  points.emplace(*field, mine.theta, mine.phi);
  values_at(*field, *points);
  field.reset();
  points.reset();
  EXPECT_GT(free_bytes(), before);
}

// SOFTDEVICE_MEMORY.
TEST_P(FieldsOnDevices, TooLargeForTheDeviceAreRefusedOnAllRanks) {
  if (is_a_large_device()) GTEST_SKIP() << "the device is large";
  const PointSpec spec = on_device(spec_of(9, {0}, 1e-4));
  const Dealt mine = deal(comm(), scattered_points(20), Deal::in_turn);
  FineField field(comm(), spec, 20);
  field.set(random_alm(field.alm_layout(), spec.fields));
  const PointSet points(field, mine.theta, mine.phi);
  const auto expected = values_at(field, points);
  expect_error(ErrorKind::resource, "bytes (",
               [&] { FineField(comm(), on_device(spec_of(700, {0}, 1e-4)), 20); });
  // Nothing was lost.
  EXPECT_TRUE(same_bits(values_at(field, points), expected));
}

}  // namespace
}  // namespace ringweave::detail::test
