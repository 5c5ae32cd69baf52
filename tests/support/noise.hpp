// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <numbers>

namespace ringweave::detail::test {

/// Two numbers of mean 0 and variance 1, uniform up to the square root of 3 in size. Tests need
/// millions, and normal numbers took a third of their time.
struct NoisePair {
  double re;
  double im;
};

/// The same for the same arguments, on any rank.
inline NoisePair noise_pair(std::uint64_t seed, std::uint32_t component, int i, int j) {
  // SplitMix64
  constexpr std::uint64_t step = 0x9e3779b97f4a7c15;
  const auto mixed = [](std::uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
  };
  const auto number = [](std::uint64_t bits) {
    return (static_cast<double>(bits >> 11) * 0x1p-53 - 0.5) * (2 * std::numbers::sqrt3);
  };
  const std::uint64_t place =
      std::uint64_t{static_cast<std::uint32_t>(i)} << 32 | static_cast<std::uint32_t>(j);
  const std::uint64_t state = mixed(mixed(seed + step * (component + 1)) + place);
  return {number(mixed(state + step)), number(mixed(state + 2 * step))};
}

}  // namespace ringweave::detail::test
