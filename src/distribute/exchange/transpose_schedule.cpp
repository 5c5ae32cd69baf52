// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/exchange/transpose_schedule.hpp"

#include <algorithm>
#include <utility>

#include "base/checked_cast.hpp"
#include "ringweave/execution.hpp"

namespace ringweave::detail::inline distribute {

TransposeSchedule::TransposeSchedule(const ModeLimits& limits, const FoldRule& fold,
                                     const OrderDistribution& orders, const RingDistribution& rings,
                                     Folding folding)
    : limits_(limits), fold_(fold), orders_(orders), rings_(rings), sequence_begin_{0} {
  for (int m = 0; m <= limits.mmax(); ++m) {
    folded_.push_back(folds_away(limits, fold, orders, m, folding));
  }
  const auto leader_first = [this](int m) { return std::pair(folded(m) ? alias(m) : m, m); };
  for (int rank = 0; rank < n_ranks(); ++rank) {
    const std::span<const int> theirs = orders.orders(rank);
    sequence_.insert(sequence_.end(), theirs.begin(), theirs.end());
    std::sort(sequence_.begin() + sequence_begin_.back(), sequence_.end(),
              [&](int a, int b) { return leader_first(a) < leader_first(b); });
    sequence_begin_.push_back(ssize64(sequence_));
  }
}

std::span<const int> TransposeSchedule::sequence(int rank) const {
  const std::int64_t begin = sequence_begin_[to_size(rank)];
  const std::int64_t end = sequence_begin_[to_size(std::int64_t{rank} + 1)];
  return std::span(sequence_).subspan(to_size(begin), to_size(end - begin));
}

TransposeSchedule::Runs TransposeSchedule::runs(int m, const RingRange& band) const {
  const RingRange kept = intersection(limits_.kept(m), band);
  if (!folded(m)) return {kept, RingRange{}};
  return {RingRange{kept.begin, std::min(kept.end, fold_.rings.begin)},
          RingRange{std::max(kept.begin, fold_.rings.end), kept.end}};
}

}  // namespace ringweave::detail::inline distribute
