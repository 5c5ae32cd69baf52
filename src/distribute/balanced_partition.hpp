// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ringweave::detail::inline distribute {

/// Cuts a sequence of items into runs, one per part in order, so that the most expensive part is as
/// cheap as possible and the others are near the mean.
///
/// total   [item + 1] cost of all items before it; costs are not negative, total[0] = 0
/// held    [part] cost a part already has, which counts for the balance. A part that holds nothing
///         gets at least one item; with too few items, the first such parts do
/// return  [part + 1] the first item of every run; the number of items at the end
std::vector<std::int64_t> balanced_partition(std::span<const std::int64_t> total,
                                             std::span<const std::int64_t> held);

}  // namespace ringweave::detail::inline distribute
