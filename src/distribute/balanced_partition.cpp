// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/balanced_partition.hpp"

#include <algorithm>
#include <numeric>

#include "base/checked_cast.hpp"

namespace ringweave::detail::inline distribute {
namespace {

class BalancedPartition {
 public:
  BalancedPartition(std::span<const std::int64_t> total, std::span<const std::int64_t> held)
      : total_(total),
        held_(held),
        n_items_(ssize64(total) - 1),
        n_parts_(ssize64(held)),
        whole_(std::accumulate(held.begin(), held.end(), total.back())) {}

  std::vector<std::int64_t> cuts() const {
    std::int64_t wanting = std::count(held_.begin(), held_.end(), 0);
    if (wanting >= n_items_) return one_each();
    const std::int64_t capacity = least_capacity();
    const std::vector<std::int64_t> earliest = earliest_cuts(capacity);
    std::vector<std::int64_t> result{0};
    std::int64_t held = 0;
    for (std::int64_t part = 1; part < n_parts_; ++part) {
      const std::int64_t previous = result.back();
      const std::int64_t least = held_[to_size(part - 1)] == 0 ? 1 : 0;
      wanting -= least;
      held += held_[to_size(part - 1)];
      const std::int64_t low = std::max(earliest[to_size(part)], previous + least);
      const std::int64_t high =
          std::min(reach(previous, room(part - 1, capacity)), n_items_ - wanting);
      result.push_back(std::clamp(nearest(mean_of(part) - held), low, high));
    }
    result.push_back(n_items_);
    return result;
  }

 private:
  std::vector<std::int64_t> one_each() const {
    std::vector<std::int64_t> result{0};
    for (const std::int64_t cost : held_)
      result.push_back(std::min(result.back() + (cost == 0 ? 1 : 0), n_items_));
    return result;
  }
  /// Mean total cost of the first `part` parts.
  std::int64_t mean_of(std::int64_t part) const {
    return whole_ / n_parts_ * part + whole_ % n_parts_ * part / n_parts_;
  }
  std::int64_t room(std::int64_t part, std::int64_t capacity) const {
    return std::max<std::int64_t>(0, capacity - held_[to_size(part)]);
  }
  /// Returns the furthest end of a run that begins at `begin` and costs at most `most`.
  std::int64_t reach(std::int64_t begin, std::int64_t most) const {
    const auto past =
        std::upper_bound(total_.begin() + begin, total_.end(), total_[to_size(begin)] + most);
    return past - total_.begin() - 1;
  }
  bool suffices(std::int64_t capacity) const {
    std::int64_t begin = 0;
    for (std::int64_t part = 0; part < n_parts_ && begin < n_items_; ++part) {
      begin = reach(begin, room(part, capacity));
    }
    return begin == n_items_;
  }
  std::int64_t least_capacity() const {
    std::int64_t largest_cost = 0;
    for (std::int64_t i = 0; i < n_items_; ++i) {
      largest_cost = std::max(largest_cost, total_[to_size(i + 1)] - total_[to_size(i)]);
    }
    std::int64_t low = std::max(largest_cost, whole_ / n_parts_);
    std::int64_t high = whole_ / n_parts_ + largest_cost + 1;
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (suffices(middle)) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }
  /// [part] the earliest cut before which `part` runs may end so that the rest still fits.
  std::vector<std::int64_t> earliest_cuts(std::int64_t capacity) const {
    std::vector<std::int64_t> cuts(to_size(n_parts_ + 1), n_items_);
    for (std::int64_t part = n_parts_ - 1; part >= 0; --part) {
      const std::int64_t end = total_[to_size(cuts[to_size(part + 1)])];
      cuts[to_size(part)] =
          std::lower_bound(total_.begin(), total_.end(), end - room(part, capacity)) -
          total_.begin();
    }
    return cuts;
  }
  /// Returns the cut for which the items before it cost closest to `ideal`.
  std::int64_t nearest(std::int64_t ideal) const {
    const std::int64_t above = std::min<std::int64_t>(
        std::lower_bound(total_.begin(), total_.end(), ideal) - total_.begin(), n_items_);
    const bool below_is_nearer =
        above > 0 && ideal - total_[to_size(above - 1)] < total_[to_size(above)] - ideal;
    return below_is_nearer ? above - 1 : above;
  }

  std::span<const std::int64_t> total_;
  std::span<const std::int64_t> held_;
  std::int64_t n_items_;
  std::int64_t n_parts_;
  std::int64_t whole_;  ///< cost of all items and held costs
};

}  // namespace

std::vector<std::int64_t> balanced_partition(std::span<const std::int64_t> total,
                                             std::span<const std::int64_t> held) {
  return BalancedPartition(total, held).cuts();
}

}  // namespace ringweave::detail::inline distribute
