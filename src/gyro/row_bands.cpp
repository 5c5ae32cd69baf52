// SPDX-License-Identifier: GPL-3.0-or-later
#include "gyro/row_bands.hpp"

#include <algorithm>

#include "base/checked_cast.hpp"

namespace ringweave::detail::inline gyro {
namespace {

/// Returns the ranges in ascending order, those that touch joined.
std::vector<RowRange> united(std::vector<RowRange> ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const RowRange& a, const RowRange& b) { return a.begin < b.begin; });
  std::vector<RowRange> result;
  for (const RowRange& range : ranges) {
    if (range.size() == 0) continue;
    if (!result.empty() && range.begin <= result.back().end) {
      result.back().end = std::max(result.back().end, range.end);
    } else {
      result.push_back(range);
    }
  }
  return result;
}

/// Returns the rows at some positions, each once.
std::vector<RowRange> rows_at(PlaneBoundary boundary, std::int64_t n, RowRange positions) {
  const std::int64_t period = period_of(boundary, n);
  if (boundary == PlaneBoundary::zero) {
    return united({{std::max<std::int64_t>(positions.begin, 0), std::min(positions.end, n)}});
  }
  if (positions.size() >= period) return {{0, n}};
  std::vector<RowRange> ranges;
  // Positions are moved into the first period; those beyond its end begin at its start.
  const std::int64_t begin = within_period(positions.begin, period);
  const std::int64_t end = begin + positions.size();
  for (const RowRange part : {RowRange{begin, std::min(end, period)},
                              RowRange{0, std::max<std::int64_t>(end - period, 0)}}) {
    ranges.push_back({part.begin, std::min(part.end, n)});
    // The second half of a mirrored period runs backwards.
    if (part.end > n)
      ranges.push_back({period - part.end + 1, period - std::max(part.begin, n) + 1});
  }
  return united(ranges);
}

std::vector<RowRange> without(const std::vector<RowRange>& ranges, RowRange own) {
  if (own.size() == 0) return ranges;
  std::vector<RowRange> result;
  for (const RowRange& range : ranges) {
    const RowRange before{range.begin, std::min(range.end, own.begin)};
    const RowRange after{std::max(range.begin, own.end), range.end};
    if (before.size() > 0) result.push_back(before);
    if (after.size() > 0) result.push_back(after);
  }
  return result;
}

/// Returns the rows that a part gets from others.
std::vector<RowRange> foreign_rows(PlaneBoundary boundary, std::span<const std::int64_t> cuts,
                                   std::int64_t part, std::int64_t halo) {
  const RowRange own{cuts[to_size(part)], cuts[to_size(part) + 1]};
  if (own.size() == 0) return {};
  return without(rows_at(boundary, cuts.back(), {own.begin - halo, own.end + halo}), own);
}

/// Calls use(part, its rows) for the owners of some rows, in ascending order.
template <class Use>
void for_each_owner(std::span<const std::int64_t> cuts, RowRange rows, const Use& use) {
  const auto after = std::upper_bound(cuts.begin(), cuts.end(), rows.begin);
  for (std::int64_t part = after - cuts.begin() - 1;
       part < ssize64(cuts) - 1 && cuts[to_size(part)] < rows.end; ++part) {
    const RowRange common{std::max(rows.begin, cuts[to_size(part)]),
                          std::min(rows.end, cuts[to_size(part) + 1])};
    if (common.size() > 0) use(static_cast<int>(part), common);
  }
}

void sort_by_peer(std::vector<HaloPlan::Message>& messages) {
  std::stable_sort(messages.begin(), messages.end(),
                   [](const auto& a, const auto& b) { return a.peer < b.peer; });
}

}  // namespace

std::int64_t HeldRows::held_at(std::int64_t position) const {
  if (position >= positions.begin && position < positions.end) return position - positions.begin;
  return node_at(boundary, n, position);
}

HeldRows held_rows(PlaneBoundary boundary, std::int64_t n, RowRange own, std::int64_t halo) {
  HeldRows held{boundary, n, own, {own.begin - halo, own.end + halo}, false};
  if (own.size() == 0) held.positions = {own.begin, own.begin};
  held.is_whole = own == RowRange{0, n} ||
                  (boundary != PlaneBoundary::zero && held.size() >= period_of(boundary, n));
  if (held.is_whole) held.positions = {0, n};
  if (boundary == PlaneBoundary::zero) {
    held.positions.begin = std::max<std::int64_t>(held.positions.begin, 0);
    held.positions.end = std::min(held.positions.end, n);
  }
  return held;
}

HaloPlan plan_row_halo(PlaneBoundary boundary, std::span<const std::int64_t> cuts, int part,
                       std::int64_t halo, std::int64_t n_x) {
  const RowRange own{cuts[to_size(part)], cuts[to_size(part) + 1]};
  HaloPlan plan;
  plan.rank = part;
  plan.n_ranks = static_cast<int>(ssize64(cuts) - 1);
  plan.n_own_rings = own.size();
  plan.own_size = own.size() * n_x;
  plan.offsets.push_back(0);
  std::vector<int> peers;
  for (const RowRange& rows : foreign_rows(boundary, cuts, part, halo)) {
    const std::int64_t first = plan.n_halo_rings();
    plan.runs.push_back({{rows.begin, rows.end}, first});
    for (std::int64_t r = rows.begin; r < rows.end; ++r)
      plan.offsets.push_back(plan.offsets.back() + n_x);
    for_each_owner(cuts, rows, [&](int peer, RowRange some) {
      plan.receives.push_back({peer,
                               {some.begin, some.end},
                               (first + some.begin - rows.begin) * n_x,
                               some.size() * n_x});
      peers.push_back(peer);
    });
  }
  plan.halo_size = plan.offsets.back();
  sort_by_peer(plan.receives);

  // Distances between positions are symmetric: who sends to this rank gets rows from it.
  std::sort(peers.begin(), peers.end());
  peers.erase(std::unique(peers.begin(), peers.end()), peers.end());
  for (const int peer : peers) {
    for (const RowRange& rows : foreign_rows(boundary, cuts, peer, halo)) {
      const RowRange some{std::max(rows.begin, own.begin), std::min(rows.end, own.end)};
      if (some.size() == 0) continue;
      plan.sends.push_back(
          {peer, {some.begin, some.end}, (some.begin - own.begin) * n_x, some.size() * n_x});
    }
  }
  return plan;
}

}  // namespace ringweave::detail::inline gyro
