// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "base/device.hpp"
#include "bench/median.hpp"

namespace ringweave::detail {

/// Returns the seconds of a call of `work`, which enqueues work on the stream: the median of
/// `repeats` measurements, each of enough calls to last, after uncounted warm-up calls.
template <class Work>
double device_seconds(const DeviceStream& stream, const Work& work, int repeats = 7) {
  constexpr double shortest = 5e-3;
  DeviceEvent begin;
  DeviceEvent end;
  const auto measure = [&](int calls) {
    begin.record(stream);
    for (int i = 0; i < calls; ++i) work();
    end.record(stream);
    end.wait();
    return end.seconds_since(begin) / calls;
  };
  measure(1);
  const double once = measure(1);
  const int calls =
      once > 0 ? static_cast<int>(std::clamp(std::ceil(shortest / once), 1.0, 1e4)) : 1;
  std::vector<double> seconds;
  for (int i = 0; i < repeats; ++i) seconds.push_back(measure(calls));
  return median(seconds);
}

/// Seconds of the host's stages, and the relative rms difference of the device's results from
/// theirs.
struct OnHost {
  struct Direction {
    double seconds = -1;  ///< below 0: not measured
    double difference = 0;
  };
  Direction synthesis;
  Direction adjoint;
};

/// Returns the seconds of a call on the host's clock: the median of several.
template <class Work>
double host_seconds(int repeats, const Work& work) {
  std::vector<double> seconds;
  for (int i = 0; i < repeats; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    seconds.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return median(seconds);
}

}  // namespace ringweave::detail
