// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/device.hpp"

#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <vector>

#include "base/device_buffer.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail {
namespace {

TEST(Device, WithoutOneTheReasonIsSaid) {
  if (device_count() > 0) GTEST_SKIP() << "there is a CUDA device";
  EXPECT_NE(device_unavailable_reason().find("host backend"), std::string::npos)
      << device_unavailable_reason();
}

TEST(Device, WithoutOneEveryUseIsAnErrorThatSaysWhatToDo) {
  if (device_count() > 0) GTEST_SKIP() << "there is a CUDA device";
  const auto says_what_to_do = [](auto&& use) {
    try {
      use();
    } catch (const Error& error) {
      return std::string(error.what()).find("host backend") != std::string::npos;
    }
    return false;
  };
  EXPECT_TRUE(says_what_to_do([] { choose_device(0); }));
  EXPECT_TRUE(says_what_to_do([] { DeviceStream stream; }));
  EXPECT_TRUE(says_what_to_do([] { DeviceBuffer<double> buffer(8); }));
  EXPECT_TRUE(says_what_to_do([] { device_memory(); }));
  EXPECT_TRUE(says_what_to_do([] { device_properties(); }));
}

// Operations that a view of device memory must not offer to the host.
template <class V>
concept Indexable = requires(V view) {
  view[0];
};
static_assert(Indexable<View<double>>);
static_assert(Indexable<View<double, MemorySpace::pinned>>);
static_assert(!Indexable<View<double, MemorySpace::device>>);
static_assert(!std::is_convertible_v<View<double, MemorySpace::device>, View<double>>);
static_assert(!std::is_convertible_v<View<double>, View<double, MemorySpace::device>>);

TEST(Device, CopiesThereAndBackAreEqual) {
  if (device_count() == 0) GTEST_SKIP() << "no CUDA device: " << device_unavailable_reason();
  choose_device(0);
  const std::vector<double> there{1, 2, 3, 4, 5};
  std::vector<double> back(5);
  const DeviceStream stream;
  DeviceBuffer<double> buffer(5);
  copy_to_device(there.data(), buffer.data(), buffer.bytes(), stream);
  copy_to_host(buffer.data(), back.data(), buffer.bytes(), stream);
  stream.synchronize();
  EXPECT_EQ(back, there);
}

TEST(Device, AGraphHasNothingToLaunchBeforeItsRecording) {
  const DeviceGraph graph;
  EXPECT_FALSE(graph.captured());
}

TEST(Device, AGraphRepeatsWhatItRecorded) {
  if (device_count() == 0) GTEST_SKIP() << "no CUDA device: " << device_unavailable_reason();
  choose_device(0);
  const DeviceStream stream;
  DeviceBuffer<int, MemorySpace::pinned> host(2);
  DeviceBuffer<int> device(1);
  DeviceGraph graph;
  EXPECT_THROW(graph.launch(stream), InternalError);
  graph.capture(stream, [&] {
    copy_to_device(host.data(), device.data(), device.bytes(), stream);
    copy_to_host(device.data(), host.data() + 1, device.bytes(), stream);
  });
  EXPECT_TRUE(graph.captured());
  for (const int value : {3, 5}) {
    host.data()[0] = value;
    host.data()[1] = 0;
    graph.launch(stream);
    stream.synchronize();
    EXPECT_EQ(host.data()[1], value);
  }
}

TEST(Device, AGraphWhoseRecordingFailsLeavesTheStreamAsItWas) {
  if (device_count() == 0) GTEST_SKIP() << "no CUDA device: " << device_unavailable_reason();
  choose_device(0);
  const DeviceStream stream;
  DeviceBuffer<int> buffer(1);
  DeviceGraph graph;
  const auto failing = [&] {
    zero_device_memory(buffer.data(), buffer.bytes(), stream);
    throw UsageError("no");
  };
  EXPECT_THROW(graph.capture(stream, failing), UsageError);
  EXPECT_FALSE(graph.captured());
  zero_device_memory(buffer.data(), buffer.bytes(), stream);
  stream.synchronize();
}

TEST(Device, AnEventOfADeviceIsWaitedFor) {
  if (device_count() == 0) GTEST_SKIP() << "no CUDA device: " << device_unavailable_reason();
  choose_device(0);
  const DeviceStream stream;
  DeviceBuffer<int> buffer(1);
  DeviceEvent event;
  zero_device_memory(buffer.data(), buffer.bytes(), stream);
  event.record(stream);
  event.wait();
  EXPECT_GT(device_properties().n_multiprocessors, 0);
}

TEST(Device, TooMuchMemoryIsAResourceError) {
  if (device_count() == 0) GTEST_SKIP() << "no CUDA device: " << device_unavailable_reason();
  choose_device(0);
  EXPECT_THROW(DeviceBuffer<double>(std::int64_t{1} << 45), ResourceError);
  DeviceBuffer<double> small(8);  // the device is still usable
  EXPECT_EQ(small.size(), 8);
}

}  // namespace
}  // namespace ringweave::detail
