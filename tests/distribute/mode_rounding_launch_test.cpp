// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/exchange/cuda/mode_rounding_launch.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "base/checked_cast.hpp"
#include "distribute/exchange/mode_rounding.hpp"
#include "support/emulated_block.hpp"
#include "support/warpwise_block.hpp"

// The rounding launches of a device, emulated, against the host's functions.
namespace ringweave::detail {
namespace {

using Value = std::complex<double>;
using Single = std::complex<float>;

template <class From, class To, class Machine = gpu::EmulatedMachine>
double launch(const std::vector<std::complex<From>>& from, std::vector<std::complex<To>>& to,
              Machine&& machine = {}) {
  std::vector<double> largest(to_size(gpu::most_rounding_blocks), 0.0);
  const auto work = gpu::RoundModes<From, To>::of(reinterpret_cast<const From*>(from.data()),
                                                  reinterpret_cast<To*>(to.data()),
                                                  2 * ssize64(from), largest.data());
  machine.launch(work, work.n_blocks);
  double all = 0;
  for (const double of_block : largest) all = larger_magnitude(all, of_block);
  return all;
}

std::vector<Value> some_modes(std::int64_t n) {
  std::vector<Value> modes;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto x = static_cast<double>(i);
    modes.push_back({std::sin(x) * std::pow(10, static_cast<double>(i % 60 - 30)), -1 / (x + 3)});
  }
  return modes;
}

TEST(ModeRounding, OfADeviceIsThatOfTheHost) {
  // Less than a block, some blocks, more than all blocks at once.
  for (const std::int64_t n : {1, 63, 1000, 100000}) {
    const std::vector<Value> modes = some_modes(n);
    const CopyRun all{0, 0, n};
    std::vector<Single> narrow_host(modes.size());
    std::vector<Single> narrow_device(modes.size());
    EXPECT_EQ(launch(modes, narrow_device),
              round_modes(modes.data(), narrow_host.data(), {&all, 1}));
    EXPECT_EQ(narrow_device, narrow_host);
    std::vector<Value> wide_host(modes.size());
    std::vector<Value> wide_device(modes.size());
    round_modes(narrow_host.data(), wide_host.data(), {&all, 1});
    launch(narrow_host, wide_device);
    EXPECT_EQ(wide_device, wide_host);
    std::vector<Value> in_place = modes;
    EXPECT_EQ(launch(in_place, in_place), round_modes(modes.data(), wide_host.data(), {&all, 1}));
    EXPECT_EQ(in_place, wide_host);
  }
}

TEST(ModeRounding, NoBarrierIsMissing) {
  const std::vector<Value> modes = some_modes(1000);
  std::vector<Single> in_step(modes.size());
  std::vector<Single> warpwise(modes.size());
  gpu::WarpwiseMachine machine;
  EXPECT_EQ(launch(modes, warpwise, machine), launch(modes, in_step));
  EXPECT_EQ(warpwise, in_step);
  EXPECT_TRUE(machine.barriers_agree);
}

TEST(ModeRounding, OfADeviceFindsTheLargestAndPassesOverNan) {
  std::vector<Value> modes(5000, Value(1, -1));
  modes[17] = {std::numeric_limits<double>::quiet_NaN(), 0};
  modes[4321] = {0, -7e40};
  std::vector<Value> rounded(modes.size());
  EXPECT_EQ(launch(modes, rounded), 7e40);
}

}  // namespace
}  // namespace ringweave::detail
