// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ringweave {

/// Cuts a row of items into runs, one for each part in turn, so that the dearest part is as cheap
/// as can be and the others are near the mean.
///
/// total   [item + 1] cost of all items before it; costs are not negative, total[0] = 0
/// held    [part] what a part has cost before; it counts for the balance. A part that holds nothing
///         gets an item of the row, the first such parts where there are too few items for all
/// return  [part + 1] the first item of every run; the number of items at the end
std::vector<std::int64_t> balanced_partition(std::span<const std::int64_t> total,
                                             std::span<const std::int64_t> held);

}  // namespace ringweave
