// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "ringweave/communicator.hpp"

namespace ringweave::detail::inline distribute {

/// The points of a rank that cannot be used.
struct InvalidPoints {
  static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  std::int64_t count = 0;
  std::int64_t first = none;
};

/// Counts the points 0 .. n - 1 that `is_wrong` accepts. OpenMP.
template <class IsWrong>
InvalidPoints find_invalid_points(std::int64_t n, const IsWrong& is_wrong) {
  std::int64_t count = 0;
  std::int64_t first = InvalidPoints::none;
#pragma omp parallel for schedule(static) reduction(+ : count) reduction(min : first)
  for (std::int64_t i = 0; i < n; ++i) {
    if (!is_wrong(i)) continue;
    ++count;
    first = std::min(first, i);
  }
  return {count, first};
}

/// Throws DataError on every rank when a rank has some: how many, and the first of the lowest
/// rank. Collective.
/// what         "theta outside [0, pi]"
/// description  of this rank's first, e.g. "theta = 4"
/// advice       what to do
void throw_on_invalid_points(const Communicator& comm, const InvalidPoints& mine,
                             std::string_view what, const std::string& description,
                             std::string_view advice);

}  // namespace ringweave::detail::inline distribute
