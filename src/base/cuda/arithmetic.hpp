// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "base/cuda/block_types.hpp"
#include "base/host_device.hpp"
#include "base/unit_powers.hpp"

namespace ringweave::detail::gpu {

RINGWEAVE_HOST_DEVICE Double2 sum(Double2 a, Double2 b) { return {a.x + b.x, a.y + b.y}; }
RINGWEAVE_HOST_DEVICE Double2 difference(Double2 a, Double2 b) { return {a.x - b.x, a.y - b.y}; }
RINGWEAVE_HOST_DEVICE Double2 conjugate(Double2 a) { return {a.x, -a.y}; }
RINGWEAVE_HOST_DEVICE Double2 times_i(Double2 a) { return {-a.y, a.x}; }
RINGWEAVE_HOST_DEVICE Double2 scaled(double s, Double2 a) { return {s * a.x, s * a.y}; }
RINGWEAVE_HOST_DEVICE Double2 product(Double2 a, Double2 b) {
  return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};
}
/// Returns conj(a) b.
RINGWEAVE_HOST_DEVICE Double2 conjugate_product(Double2 a, Double2 b) {
  return {a.x * b.x + a.y * b.y, a.x * b.y - a.y * b.x};
}

/// Quotient and remainder of a / b for 0 <= a < 2^32 and 0 < b < 2^32; 64-bit division is several
/// times slower on a device.
struct Quotient {
  std::int64_t whole;
  std::int64_t rest;
};
RINGWEAVE_HOST_DEVICE Quotient divide(std::int64_t a, std::int64_t b) {
  const auto narrow_a = static_cast<std::uint32_t>(a);
  const auto narrow_b = static_cast<std::uint32_t>(b);
  return {narrow_a / narrow_b, narrow_a % narrow_b};
}

/// Returns exp(i k angle) from a table of UnitPowers.
RINGWEAVE_HOST_DEVICE Double2 unit_power(const Double2* table, std::int64_t k) {
  return product(table[UnitPowers::n_fine + (k >> UnitPowers::fine_bits)],
                 table[k & (UnitPowers::n_fine - 1)]);
}

}  // namespace ringweave::detail::gpu
