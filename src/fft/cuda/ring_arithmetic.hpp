// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "base/cuda/arithmetic.hpp"
#include "base/cuda/block_types.hpp"
#include "base/host_device.hpp"

namespace ringweave::detail::gpu {

/// Returns exp(i pi k^2 / n) from the table of exp(i pi k / n), k < n.
RINGWEAVE_HOST_DEVICE Double2 chirp_value(const Double2* roots, std::int64_t n, std::int64_t k) {
  constexpr std::int64_t most_in_32_bits = std::int64_t{1} << 16;
  std::int64_t turn = 0;
  if (n <= most_in_32_bits) {
    const auto narrow = static_cast<std::uint32_t>(k);
    turn = narrow * narrow % static_cast<std::uint32_t>(2 * n);
  } else {
    turn = k * k % (2 * n);
  }
  return turn < n ? unit_power(roots, turn) : scaled(-1, unit_power(roots, turn - n));
}

/// Returns the order that alias number `alias` >= 0 has in bin k of a ring of n pixels, 0 <= k <= n
/// / 2. Aliases ascend: k, n - k, n + k, 2 n - k, ...; odd ones count conjugated. Returns -1 for
/// odd aliases of bins 0 and n / 2, which equal even ones.
RINGWEAVE_HOST_DEVICE std::int64_t alias_order(std::int64_t n, std::int64_t alias, std::int64_t k) {
  if (alias % 2 == 0) return alias / 2 * n + k;
  return k == 0 || 2 * k == n ? -1 : (alias + 1) / 2 * n - k;
}

/// Returns the number of aliases that have an order below n_modes in any bin.
RINGWEAVE_HOST_DEVICE std::int64_t alias_count(std::int64_t n, std::int64_t n_modes) {
  // Alias 2 t begins at order t n, alias 2 t - 1 at t n - (n - 1) / 2.
  const std::int64_t direct = (n_modes + n - 1) / n;
  const std::int64_t mirrored = (n_modes + (n - 1) / 2 - 1) / n;
  return n_modes == 0 ? 0 : (2 * direct - 1 > 2 * mirrored ? 2 * direct - 1 : 2 * mirrored);
}

}  // namespace ringweave::detail::gpu
