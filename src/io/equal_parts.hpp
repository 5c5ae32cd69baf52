// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace ringweave::detail::inline io {

/// Returns where part `part` of n things in n_parts equal parts begins: n part / n_parts, without
/// overflow.
constexpr std::int64_t part_begin(std::int64_t n, std::int64_t part, std::int64_t n_parts) {
  return n / n_parts * part + n % n_parts * part / n_parts;
}

}  // namespace ringweave::detail::inline io
