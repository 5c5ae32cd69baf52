// SPDX-License-Identifier: GPL-3.0-or-later
#include "transform/device_transform.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>

#include "base/checked_cast.hpp"
#include "base/device_buffer.hpp"
#include "ringweave/error.hpp"
#include "ringweave/execution.hpp"
#include "ringweave/transform.hpp"
#include "support/on_devices.hpp"
#include "transform/device_budget.hpp"
#include "transform/offloaded_transform.hpp"
#include "transform/transform_cases.hpp"
#include "transform/transform_problem.hpp"

// The transform on a device against the host's. Ranks of one launch share the available devices.
namespace ringweave::detail::test {
namespace {

INSTANTIATE_TEST_SUITE_P(Ranks, OnDevices, every_rank_count(), name_of_rank_groups);

TransformSpec cuda_spec(const Case& of) {
  TransformSpec spec = of.spec();
  spec.backend = Backend::cuda;
  return spec;
}

template <class T>
void expect_as_the_host(const Communicator& comm, const TransformSpec& spec,
                        const std::string& name, double bound) {
  SCOPED_TRACE(name);
  TransformSpec host_spec = spec;
  host_spec.backend = Backend::host;
  SphericalHarmonicTransform host(comm, host_spec);
  SphericalHarmonicTransform device(comm, spec);
  const AlmBuffer<T> alm = random_alm<T>(host);
  expect_within(relative_error(comm, synthesized(device, alm), synthesized(host, alm)), bound);
  const MapBuffer<T> map = random_map<T>(host);
  expect_within(relative_error(comm, adjoint_of(device, map), adjoint_of(host, map)), bound);
}

TEST_P(OnDevices, ATransformIsTheHostsInASmallCase) {
  const Case of = telling_cases().front();
  expect_as_the_host<double>(comm(), cuda_spec(of), of.name(), as_the_host);
}

TEST_P(OnDevices, TransformsAreThoseOfTheHost) {
  for (const Case& of : covering_cases())
    expect_as_the_host<double>(comm(), cuda_spec(of), of.name(), as_the_host);
}

TEST_P(OnDevices, TransformsOfFloatsAreThoseOfTheHost) {
  for (const Case& of : telling_cases())
    expect_as_the_host<float>(comm(), cuda_spec(of), of.name(), tolerance::single_storage);
}

TEST_P(OnDevices, SinglePrecisionOnTheWayAndGroupsLeaveTheDataOnTheDevice) {
  for (const Case& of : telling_cases()) {
    TransformSpec spec = cuda_spec(of);
    spec.exchange.precision = ModePrecision::single_;
    EXPECT_NE(SphericalHarmonicTransform(comm(), spec).offloaded(), nullptr);
    expect_as_the_host<double>(comm(), spec, of.name(), tolerance::single_storage);
    spec = cuda_spec(of);
    spec.mode_bytes = 1;
    EXPECT_NE(SphericalHarmonicTransform(comm(), spec).offloaded(), nullptr);
    expect_as_the_host<double>(comm(), spec, of.name(), as_the_host);
  }
}

TEST_P(OnDevices, RanksThatShareADeviceGiveWhatOneGives) {
  for (const Case& of : telling_cases()) {
    SCOPED_TRACE(of.name());
    expect_as_on_one_rank(comm(), cuda_spec(of));
  }
}

TEST_P(OnDevices, DataThatDoNotFitTheDeviceGoInBlocks) {
  for (const Case& of : telling_cases()) {
    TransformSpec spec = cuda_spec(of);
    spec.device_bytes = 0;
    SphericalHarmonicTransform transform(comm(), spec);
    EXPECT_EQ(transform.offloaded(), nullptr);
    EXPECT_FALSE(transform.device()->on_device());
    expect_as_the_host<double>(comm(), spec, of.name(), as_the_host);
  }
}

TEST_P(OnDevices, OneStageMayRunThereAlone) {
  for (const Case& of : telling_cases()) {
    for (const StagesOnDevice stage : {StagesOnDevice::legendre, StagesOnDevice::ring_fft}) {
      TransformSpec spec = cuda_spec(of);
      spec.on_device = stage;
      SphericalHarmonicTransform transform(comm(), spec);
      EXPECT_FALSE(transform.device()->on_device());
      EXPECT_EQ(transform.has_spectra(), stage == StagesOnDevice::legendre);
      const DeviceMemoryPlan& memory = transform.device()->planned;
      EXPECT_EQ(memory.legendre > 0, stage == StagesOnDevice::legendre);
      EXPECT_EQ(memory.ring_fft > 0, stage == StagesOnDevice::ring_fft);
      expect_as_the_host<double>(comm(), spec, of.name(), as_the_host);
    }
  }
}

TEST_P(OnDevices, AdjointSynthesisIsTheAdjoint) {
  for (const Case& of : telling_cases()) {
    SphericalHarmonicTransform transform(comm(), cuda_spec(of));
    EXPECT_NE(transform.offloaded(), nullptr);
    EXPECT_LE(adjoint_gap<double>(transform), tolerance::adjoint) << of.name();
  }
}

TEST_P(OnDevices, WeightsAndSumsAreThoseOfTheHost) {
  const Case of = telling_cases().front();
  SphericalHarmonicTransform host(comm(), of.spec());
  SphericalHarmonicTransform device(comm(), cuda_spec(of));
  const std::vector<double> weights(to_size(host.rings().n_rings()), 0.75);
  const MapBuffer<double> map = random_map(host);
  AlmBuffer<double> expected = random_alm(host);
  AlmBuffer<double> sum = copy_of(expected);
  host.adjoint<double>(map.view(), weights, expected.view(), Accumulate::add);
  device.adjoint<double>(map.view(), weights, sum.view(), Accumulate::add);
  expect_within(relative_error(comm(), sum, expected), as_the_host);
}

TEST_P(OnDevices, HeldMemoryIsWhatWasPlanned) {
  for (const Case& of : telling_cases()) {
    const SphericalHarmonicTransform transform(comm(), cuda_spec(of));
    ASSERT_NE(transform.offloaded(), nullptr);
    EXPECT_LE(transform.offloaded()->device_bytes(), transform.device()->planned.total());
    EXPECT_LE(transform.offloaded()->transform().staging_bytes(),
              transform.device()->planned.staging);
  }
}

TEST_P(OnDevices, AReplayedCallIsTheFirstOne) {
  const Case of = telling_cases().front();
  SphericalHarmonicTransform host(comm(), of.spec());
  DeviceTransform transform(comm(), host.plan());
  const AlmBuffer<double> alm = random_alm(host);
  const std::int64_t n = alm.n_components();
  DeviceBuffer<std::complex<double>> alm_there(n * alm.size());
  DeviceBuffer<double> map_there(n * host.rings().n_pixels());
  copy_to_device(alm.view().data(), alm_there.data(), alm_there.bytes(), transform.stream());
  MapBuffer<double> first = host.make_map<double>();
  for (int call = 0; call < 4; ++call) {
    zero_device_memory(map_there.data(), map_there.bytes(), transform.stream());
    transform.synthesize<double>(
        AlmView<const double, MemorySpace::device>(alm_there.data(), n, alm.size()),
        MapView<double, MemorySpace::device>(map_there.data(), n, host.rings().n_pixels()));
    MapBuffer<double> map = host.make_map<double>();
    copy_to_host(map_there.data(), map.view().data(), map_there.bytes(), transform.stream());
    transform.stream().synchronize();
    if (call == 0)
      first = std::move(map);
    else
      EXPECT_TRUE(same_bits(map, first)) << "call " << call;
  }
}

/// Components of this rank in the memory of its device.
template <class T>
struct DataThere {
  std::int64_t n_components;
  std::int64_t size;
  DeviceBuffer<T> memory;

  explicit DataThere(const ComponentBuffer<T>& from)
      : n_components(from.n_components()), size(from.size()), memory(n_components * size) {
    const DeviceStream stream;
    copy_to_device(from.view().data(), memory.data(), memory.bytes(), stream);
    stream.synchronize();
  }
  ComponentView<T, MemorySpace::device> view() { return {memory.data(), n_components, size}; }
  ComponentBuffer<T> on_host() const {
    ComponentBuffer<T> to(n_components, size);
    const DeviceStream stream;
    copy_to_host(memory.data(), to.view().data(), memory.bytes(), stream);
    stream.synchronize();
    return to;
  }
};

template <class T>
void expect_data_on_the_device(const Communicator& comm, const Case& of, double bound) {
  SCOPED_TRACE(of.name());
  TransformSpec spec = cuda_spec(of);
  spec.data = MemorySpace::device;
  SphericalHarmonicTransform host(comm, of.spec());
  SphericalHarmonicTransform device(comm, spec);
  EXPECT_EQ(device.device()->planned.alm, 0);
  EXPECT_LE(device.offloaded()->device_bytes(), device.device()->planned.total());
  const AlmBuffer<T> alm = random_alm<T>(host);
  const MapBuffer<T> map = random_map<T>(host);
  DataThere<std::complex<T>> alm_there(alm);
  DataThere<T> map_there(map);

  DataThere<T> synthesized_there(map);
  device.synthesize<T>(alm_there.view(), synthesized_there.view());
  expect_within(relative_error(comm, synthesized_there.on_host(), synthesized(host, alm)), bound);

  AlmBuffer<T> expected = copy_of(alm);
  ComponentBuffer<double> weights(1, host.rings().n_rings());
  std::fill_n(weights.view().data(), weights.size(), 0.75);
  DataThere<double> weights_there(weights);
  host.adjoint<T>(map.view(), {weights.view().data(), to_size(weights.size())}, expected.view(),
                  Accumulate::add);
  device.adjoint<T>(map_there.view(), weights_there.view().component(0), alm_there.view(),
                    Accumulate::add);
  expect_within(relative_error(comm, alm_there.on_host(), expected), bound);
  EXPECT_TRUE(same_bits(map_there.on_host(), map));
}

TEST_P(OnDevices, DataOfTheDeviceStayThereInASmallCase) {
  const Case of = telling_cases().front();
  expect_data_on_the_device<double>(comm(), of, as_the_host);
  expect_data_on_the_device<float>(comm(), of, tolerance::single_storage);
}

TEST_P(OnDevices, DataOfTheDeviceStayThere) {
  for (const Case& of : telling_cases()) expect_data_on_the_device<double>(comm(), of, as_the_host);
}

TEST_P(OnDevices, DataOfAnotherMemoryThanPlannedAreRefused) {
  TransformSpec spec = cuda_spec(telling_cases().front());
  SphericalHarmonicTransform of_host(comm(), spec);
  spec.data = MemorySpace::device;
  SphericalHarmonicTransform of_device(comm(), spec);
  const AlmBuffer<double> alm = random_alm(of_host);
  MapBuffer<double> map = of_host.make_map<double>();
  EXPECT_THROW(of_device.synthesize(alm, map), UsageError);
  DataThere<std::complex<double>> alm_there(alm);
  DataThere<double> map_there(map);
  EXPECT_THROW(of_host.synthesize<double>(alm_there.view(), map_there.view()), UsageError);
  EXPECT_THROW(of_host.adjoint<double>(map_there.view(), {}, alm_there.view()), UsageError);
  spec.device_bytes = 1000;
  EXPECT_THROW(SphericalHarmonicTransform(comm(), spec), ResourceError);
}

TEST(TransformSpec, DataOnADeviceGoWithBothStagesThere) {
  TransformSpec spec = telling_cases().front().spec();
  spec.data = MemorySpace::device;
  EXPECT_THROW(spec.checked(), UsageError);
  spec.backend = Backend::cuda;
  EXPECT_NO_THROW(spec.checked());
  spec.on_device = StagesOnDevice::legendre;
  EXPECT_THROW(spec.checked(), UsageError);
  spec.on_device = StagesOnDevice::both;
  spec.data = MemorySpace::pinned;
  EXPECT_THROW(spec.checked(), UsageError);
}

TEST_P(OnDevices, TooLargeATransformSaysWhatItLacks) {
  const Case of = telling_cases().front();
  TransformSpec spec = cuda_spec(of);
  spec.device_bytes = 1000;
  const SphericalHarmonicTransform transform(comm(), spec);
  EXPECT_NE(transform.device()->reason.find("bytes more"), std::string::npos);
}

}  // namespace
}  // namespace ringweave::detail::test
