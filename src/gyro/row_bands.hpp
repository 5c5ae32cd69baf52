// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "distribute/halo/halo_plan.hpp"
#include "gyro/axis_positions.hpp"
#include "gyro/side_lines.hpp"
#include "ringweave/gyroaverage.hpp"

namespace ringweave::detail::inline gyro {

/// The rows of a plane that a rank holds in order to make its own: those within `halo` positions,
/// as far as there are any. Where these positions cover the whole period of an axis, or one rank
/// has all rows: every row once (`is_whole`). Else positions beyond an end have copies.
struct HeldRows {
  PlaneBoundary boundary = PlaneBoundary::zero;
  std::int64_t n = 0;  ///< rows of the plane
  RowRange own;
  RowRange positions;  ///< held one after the other
  bool is_whole = false;

  std::int64_t size() const { return positions.size(); }
  /// Returns the number of the row held for a position within `halo` of the own rows; -1: zero.
  std::int64_t held_at(std::int64_t position) const;
  /// Returns the row of the plane that is held as number `held`.
  std::int64_t row(std::int64_t held) const { return node_at(boundary, n, positions.begin + held); }
};

/// halo >= 0
HeldRows held_rows(PlaneBoundary boundary, std::int64_t n, RowRange own, std::int64_t halo);

/// Plans how one of the ranks that share the rows of a plane gets those it holds besides its own;
/// rows are the plan's rings, n_x values each. Every row once, from its owner. Plans of all parts
/// match.
/// cuts   [part] the first row of each, ascending, and the end of the last; parts may be empty
/// Cost   O(halo + log n_parts + peers). Not collective.
HaloPlan plan_row_halo(PlaneBoundary boundary, std::span<const std::int64_t> cuts, int part,
                       std::int64_t halo, std::int64_t n_x);

}  // namespace ringweave::detail::inline gyro
