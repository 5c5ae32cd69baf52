// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <gtest/gtest.h>

#include "base/device.hpp"
#include "support/rank_groups.hpp"

namespace ringweave::detail::test {

/// Relative to the host.
inline constexpr double as_the_host = 1e-12;

/// Tests on devices, which the ranks of one launch share.
class OnDevices : public OnEveryRankCount {
 protected:
  void SetUp() override {
    OnEveryRankCount::SetUp();
    if (device_count() == 0) GTEST_SKIP() << "no CUDA device: " << device_unavailable_reason();
    choose_device(Communicator::world().node_local().rank());
  }
};

/// Tells whether the device takes as much memory as is asked for, and no more.
inline bool is_in_software() { return device_properties().name == "software device"; }

/// Skips where a device has more than a few MB, as those of some tests in software do.
inline bool is_a_large_device() { return device_memory().total_bytes > 100'000'000; }

}  // namespace ringweave::detail::test
