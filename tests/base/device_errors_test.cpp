// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "base/device.hpp"
#include "base/device_buffer.hpp"
#include "ringweave/error.hpp"

// Possible results of CUDA calls, as values of cudaError_t; no device needed.
namespace ringweave::detail {
namespace {

constexpr int success = 0;
constexpr int out_of_memory = 2;
constexpr int driver_too_old = 35;
constexpr int devices_unavailable = 46;
constexpr int no_device = 100;
constexpr int no_code_for_device = 209;
constexpr int needs_newer_driver_for_ptx = 222;
constexpr int illegal_address = 700;
constexpr int launch_timed_out = 702;
constexpr int driver_mismatch = 803;

class DeviceErrors : public testing::Test {
 protected:
  void SetUp() override {
    if (cuda_version().empty()) GTEST_SKIP() << "this build has no CUDA";
    GTEST_FLAG_SET(death_test_style, "threadsafe");
  }
};

/// Returns the message of the ResourceError that `use` throws; empty if none.
template <class Use>
std::string refusal(const Use& use) {
  try {
    use();
  } catch (const ResourceError& error) {
    return error.what();
  }
  return "";
}
std::string refusal_of(int status) {
  return refusal([&] { check_device(status, "doing something"); });
}
bool contains(const std::string& text, const char* words) {
  return text.find(words) != std::string::npos;
}

TEST_F(DeviceErrors, SayWhatWasDoneAndWhatToDo) {
  struct Expected {
    int status;
    const char* words;
  };
  for (const auto& [status, words] :
       {Expected{out_of_memory, "more ranks or a smaller batch"},
        Expected{driver_too_old, "install a newer driver"},
        Expected{driver_mismatch, "install a newer driver"},
        Expected{needs_newer_driver_for_ptx, "install a newer driver"},
        Expected{no_device, "CUDA_VISIBLE_DEVICES"},
        Expected{devices_unavailable, "CUDA_VISIBLE_DEVICES"},
        Expected{no_code_for_device, "CMAKE_CUDA_ARCHITECTURES"}}) {
    const std::string message = refusal_of(status);
    EXPECT_TRUE(contains(message, "GPU: doing something: ")) << message;
    EXPECT_TRUE(contains(message, words)) << message;
    EXPECT_FALSE(contains(message, "no longer be used")) << message;
  }
}

TEST_F(DeviceErrors, MostLeaveTheDeviceUsable) {
  refusal_of(out_of_memory);
  EXPECT_NO_THROW(check_device(success, "going on"));
}

/// Exits with 0 when all use after the failure is refused with the message of the failure.
void fail_and_try_on(int status) {
  const std::string first = refusal([&] { check_device(status, "the first launch"); });
  bool as_expected = contains(first, "the first launch") &&
                     contains(first, "can no longer be used by this process");
  const auto expect_refused = [&](const auto& use) { as_expected &= refusal(use) == first; };
  expect_refused([] { check_device(success, "something harmless"); });
  expect_refused([] { check_device(out_of_memory, "allocating"); });
  expect_refused([] { choose_device(0); });
  expect_refused([] { current_device(); });
  expect_refused([] { device_memory(); });
  expect_refused([] { device_properties(); });
  expect_refused([] { DeviceStream stream; });
  expect_refused([] { DeviceEvent event; });
  expect_refused([] { DeviceBuffer<double> buffer(8); });
  std::exit(as_expected ? 0 : 1);
}

TEST_F(DeviceErrors, AfterOneThatEndsTheDeviceEveryCallSaysWhatItWas) {
  for (const int status : {illegal_address, launch_timed_out}) {
    EXPECT_EXIT(fail_and_try_on(status), testing::ExitedWithCode(0), "") << status;
  }
}

}  // namespace
}  // namespace ringweave::detail
