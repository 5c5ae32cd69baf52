// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/device.hpp"

#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <vector>

#include "base/device_buffer.hpp"
#include "base/error.hpp"

namespace ringweave {
namespace {

TEST(Device, WithoutOneTheObstacleIsSaid) {
  if (device_count() > 0) GTEST_SKIP() << "there is a CUDA device";
  EXPECT_NE(device_obstacle().find("host backend"), std::string::npos) << device_obstacle();
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
}

// What a view of device memory must not offer to the host.
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
  if (device_count() == 0) GTEST_SKIP() << "no CUDA device: " << device_obstacle();
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

TEST(Device, TooMuchMemoryIsAResourceError) {
  if (device_count() == 0) GTEST_SKIP() << "no CUDA device: " << device_obstacle();
  choose_device(0);
  EXPECT_THROW(DeviceBuffer<double>(std::int64_t{1} << 45), ResourceError);
  DeviceBuffer<double> small(8);  // the device is still usable
  EXPECT_EQ(small.size(), 8);
}

}  // namespace
}  // namespace ringweave
