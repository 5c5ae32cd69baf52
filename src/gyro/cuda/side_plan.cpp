// SPDX-License-Identifier: GPL-3.0-or-later
#include "gyro/cuda/side_plan.hpp"

#include <algorithm>
#include <utility>

#include "base/checked_cast.hpp"
#include "gyro/axis_positions.hpp"

namespace ringweave::detail::gpu {
namespace {

std::int32_t narrow(std::int64_t i) {
  return checked_cast<std::int32_t>(i, "numbers of a plane on a device");
}

bool is_outermost(std::int64_t i, std::int64_t n, std::int64_t margin) {
  return i < margin || i >= n - margin;
}

/// Plans the edges of some of the held rows.
EdgePlan edges_of(const SideGeometry& geometry, RowRange held) {
  const HeldRows& rows = geometry.rows;
  EdgePlan edges{geometry.n_x,
                 geometry.x_boundary == PlaneBoundary::mirror,
                 rows.boundary == PlaneBoundary::mirror,
                 {}};
  for (std::int64_t h = held.begin; h < held.end; ++h) {
    const std::int64_t row = rows.row(h);
    const bool is_edge = row == 0 || row == rows.n - 1;
    edges.mirrors.push_back(edges.y_mirrored && is_edge ? 1 : 0);
  }
  return edges;
}

SideLayout layout_of(const SideSums& sides) {
  const SideGeometry& geometry = sides.geometry();
  const HeldRows& rows = geometry.rows;
  SideLayout layout;
  layout.x = sides.x_lines();
  layout.y = sides.y_lines();
  layout.margin = geometry.margin;
  layout.n_x = geometry.n_x;
  layout.n_rows = rows.own.size();
  layout.held_rows = rows.size();
  layout.first_own = rows.own.begin - rows.positions.begin;
  layout.first_row = rows.own.begin;
  layout.n_y = rows.n;
  layout.corners = sides.corner(0, 0);
  layout.work_size = sides.work_size();
  layout.has_corners = sides.has_corners();
  layout.y_ends = geometry.y_ends();
  for (const std::int64_t end : {0, 1}) {
    if (layout.x.is_used) layout.x_sources[end] = sides.own_sources(sides.x_lines(), end);
    if (layout.y.is_used) layout.y_sources[end] = sides.own_sources(sides.y_lines(), end);
  }
  return layout;
}

}  // namespace

SidePlan::SidePlan(const SideSums& sides) : layout(layout_of(sides)) {
  const SideGeometry& geometry = sides.geometry();
  const HeldRows& rows = geometry.rows;
  const std::int64_t m = layout.margin;
  held_edges = edges_of(geometry, {0, rows.size()});
  own_edges = edges_of(geometry, {layout.first_own, layout.first_own + layout.n_rows});
  const SideLines& x = layout.x;
  for (std::int64_t k = -x.reach; x.is_used && k < x.length + x.reach; ++k) {
    const std::int64_t held = rows.held_at(rows.own.begin + k);
    const bool is_corner = held >= 0 && layout.y_ends && is_outermost(rows.row(held), rows.n, m);
    x_target_rows.push_back(narrow(held));
    x_source_rows.push_back(is_corner ? -1 : narrow(held));
  }
  const SideLines& y = layout.y;
  for (std::int64_t row = rows.own.begin; row < rows.own.end; ++row)
    line_of_row.push_back(y.is_used ? narrow(y.target_line_of(row)) : -1);
  if (!y.is_used) return;
  for (std::int64_t k = -y.reach; k < y.length + y.reach; ++k) {
    const std::int64_t column = node_at(geometry.x_boundary, geometry.n_x, k);
    const bool is_corner =
        column >= 0 && layout.has_corners && is_outermost(column, geometry.n_x, m);
    y_target_columns.push_back(narrow(column));
    y_source_columns.push_back(is_corner ? -1 : narrow(column));
  }
  for (std::int64_t i = 0; i < 2 * m; ++i) {
    const bool is_near = sides.has_end_y(i / m);
    y_source_rows.push_back(is_near ? narrow(rows.held_at(y.from_end(i / m, i % m))) : -1);
  }
  for (std::int64_t line = 0; line < y.n_targets; ++line) {
    const std::int64_t row = y.of_target_line(line);
    const bool is_held = row >= rows.positions.begin && row < rows.positions.end;
    y_target_rows.push_back(is_held ? narrow(rows.held_at(row)) : -1);
  }
}

CornerLists::CornerLists(const CornerTable& table) {
  struct Entry {
    Target target;
    std::int32_t source;
    double weight;
  };
  std::vector<Entry> entries;
  source_begin.push_back(0);
  const std::int64_t m = table.margin;
  for (std::int64_t i = 0; i < m * m && !table.sources.empty(); ++i) {
    const std::int64_t p = i % m;
    const std::int64_t q = i / m;
    const CornerTable::Source& source = table.source(p, q);
    std::int64_t at = source.weight_begin;
    for (std::int64_t r = source.run_begin; r < source.run_end; ++r) {
      const CornerTable::Run& run = table.runs[to_size(r)];
      for (std::int32_t k = 0; k < run.count; ++k, ++at) {
        Target target{run.a, run.b + k};
        if (table.is_exchanged(p, q)) std::swap(target.a, target.b);
        entries.push_back({target, narrow(i), table.weights[to_size(at)]});
        n_a = std::max<std::int64_t>(n_a, target.a + 1);
        n_b = std::max<std::int64_t>(n_b, target.b + 1);
      }
    }
    source_begin.push_back(narrow(ssize64(entries)));
  }
  for (const Entry& entry : entries) {
    targets.push_back(entry.target);
    target_weights.push_back(entry.weight);
  }
  const auto number = [&](const Target& target) { return target.b * n_a + target.a; };
  // Of each target the sources stay in their order.
  std::stable_sort(entries.begin(), entries.end(), [&](const Entry& a, const Entry& b) {
    return number(a.target) < number(b.target);
  });
  target_begin.assign(to_size(n_a * n_b + 1), 0);
  for (const Entry& entry : entries) {
    ++target_begin[to_size(number(entry.target) + 1)];
    sources.push_back(entry.source);
    source_weights.push_back(entry.weight);
  }
  for (std::size_t i = 1; i < target_begin.size(); ++i) target_begin[i] += target_begin[i - 1];
}

}  // namespace ringweave::detail::gpu
