// SPDX-License-Identifier: GPL-3.0-or-later
#include "gyro/stencil_tables.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <utility>

#include "base/checked_cast.hpp"
#include "base/first_error.hpp"
#include "gyro/arc_weights.hpp"
#include "gyro/axis_positions.hpp"
#include "gyro/circle_arcs.hpp"

namespace ringweave::detail::inline gyro {
namespace {

constexpr std::size_t most_margin = 5;
// Shorter gaps of zeros cost less than another run.
constexpr std::int64_t least_gap = 4;
// In spacings. Beyond, no memory holds the arcs of a circle; counts of these are far from the limit
// of 64 bits.
constexpr double most_radius = 1e12;

/// Cells next to an end in which a special source counts: for source p the first p + this.
constexpr std::int64_t cells_beyond(Interpolation interpolation) {
  return interpolation == Interpolation::bilinear ? 1 : 3;
}
/// Cells next to an end in which any special source counts.
constexpr std::int64_t strip_of(Interpolation interpolation) {
  return margin_of(interpolation) - 1 + cells_beyond(interpolation);
}
/// Nodes that an interpolant depends on beyond the cell's begin, and before it.
constexpr std::int64_t nodes_after(Interpolation interpolation) {
  return interpolation == Interpolation::bilinear ? 1 : 3;
}
constexpr std::int64_t nodes_before(Interpolation interpolation) {
  return interpolation == Interpolation::bilinear ? 0 : 2;
}

/// The same circle of an axis pair (y, x).
GridCircle transposed(const GridCircle& circle) { return {circle.y, circle.x}; }

/// Tells whether x and y may be exchanged next to ends of both axes.
bool is_symmetric(const GridCircle& circle, std::int64_t n_x, std::int64_t n_y) {
  return circle.x == circle.y && n_x == n_y;
}

/// Factor of weights at an offset of 0, where one of two mirror images is integrated: 2 adds the
/// other half of a circle; a point counts once.
double share_of_zero(const GridCircle& circle) { return circle.is_point() ? 1 : 2; }

/// Offsets along one axis.
struct AxisOffsets {
  std::int64_t n = 0;  ///< nodes
  PlaneBoundary boundary = PlaneBoundary::zero;
  std::int64_t reach = 0;  ///< largest with a weight

  AxisOffsets(Interpolation interpolation, double radius, std::int64_t size, PlaneBoundary ends)
      : n(size), boundary(ends) {
    if (radius == 0) return;
    const auto cells = static_cast<std::int64_t>(std::ceil(std::min(radius, most_radius)));
    reach = cells - 1 + nodes_after(interpolation);
    if (has_ends()) reach = std::min(reach, n - 1);
  }
  bool has_ends() const { return boundary == PlaneBoundary::zero; }
  /// The largest offset that others are folded to.
  std::int64_t folded_reach() const {
    return has_ends() ? reach : std::min(reach, period_of(boundary, n) / 2);
  }
  /// The offset >= 0 that has the same weights as `offset` and -offset.
  std::int64_t folded(std::int64_t offset) const {
    const std::int64_t distance = std::abs(offset);
    if (has_ends()) return distance;
    const std::int64_t period = period_of(boundary, n);
    return std::min(distance % period, period - distance % period);
  }
};

/// Targets next to an end whose circles come into its strip.
std::int64_t count_targets(Interpolation interpolation, double radius, std::int64_t n) {
  const double strip = static_cast<double>(strip_of(interpolation));
  return std::min(n, static_cast<std::int64_t>(std::ceil(std::min(radius, most_radius) + strip)));
}

/// Cells that reach offsets 0 .. reach.
CellRange cells_up_to(std::int64_t reach) {
  return {0, reach + 1 + nodes_before(Interpolation::bicubic)};
}

GridPoint point_at(std::int64_t x, std::int64_t y) { return {{x, 0}, {y, 0}}; }

/// Integrates one quadrant and adds all four: weights are folded onto offsets >= 0.
std::vector<double> interior_of(const StencilTables& tables, const AxisOffsets& x,
                                const AxisOffsets& y) {
  const std::int64_t row = tables.reach_x + 1;
  std::vector<double> weights(to_size(row * (tables.reach_y + 1)));
  const CircleWeights circle_weights(tables.interpolation, {}, {});
  const double at_zero = share_of_zero(tables.circle);
  circle_weights.visit(
      tables.circle, point_at(0, 0), {cells_up_to(x.reach), cells_up_to(y.reach)},
      [&](const ArcWeights& arc) {
        for (std::size_t j = 0; j < arc.y_count; ++j) {
          const std::int64_t dy = y.folded(arc.y_first + static_cast<std::int64_t>(j));
          if (dy > tables.reach_y) continue;
          const double y_factor = dy == 0 ? at_zero : 1;
          for (std::size_t i = 0; i < arc.x_count; ++i) {
            const std::int64_t dx = x.folded(arc.x_first + static_cast<std::int64_t>(i));
            if (dx > tables.reach_x) continue;
            const double factor = dx == 0 ? y_factor * at_zero : y_factor;
            weights[to_size(dy * row + dx)] += factor * arc.weight[j][i];
          }
        }
      });
  return weights;
}

/// Weights of one special source for one target.
struct SideLine {
  std::vector<SideTable::Run> runs;  ///< begin: in the weights of this line
  std::vector<double> weights;

  /// Takes weights of offsets 0, 1, ...; cuts them at gaps of zeros.
  void assign(const double* values, std::int64_t count) {
    for (std::int64_t d = 0; d < count; ++d) {
      if (values[d] == 0) continue;
      if (runs.empty() || d - (runs.back().first + runs.back().count) >= least_gap) {
        runs.push_back({d, 0, ssize64(weights)});
      }
      SideTable::Run& run = runs.back();
      for (; run.first + run.count <= d; ++run.count)
        weights.push_back(values[run.first + run.count]);
    }
  }
};

/// Weights next to the end at x = 0 of a half-plane, for targets in one row.
class SideMaker {
 public:
  SideMaker(Interpolation interpolation, const GridCircle& circle, std::int64_t reach)
      : margin_(margin_of(interpolation)),
        row_(reach + 1),
        circle_(circle),
        box_{{0, strip_of(interpolation)}, cells_up_to(reach)},
        weights_(interpolation, {.at_begin = true}, {}),
        sums_(to_size(margin_ * row_)) {}

  /// lines  of target a, [p * stride]
  void make(std::int64_t a, SideLine* lines, std::int64_t stride) {
    std::fill(sums_.begin(), sums_.end(), 0.0);
    const double at_zero = share_of_zero(circle_);
    weights_.visit(circle_, point_at(a, 0), box_, [&](const ArcWeights& arc) {
      for (std::size_t j = 0; j < arc.y_count; ++j) {
        const std::int64_t d = std::abs(arc.y_first + static_cast<std::int64_t>(j));
        if (d >= row_) continue;
        const double factor = d == 0 ? at_zero : 1;
        for (std::size_t i = 0; i < arc.x_count; ++i) {
          const std::int64_t p = arc.x_first + static_cast<std::int64_t>(i);
          if (p < margin_) sums_[to_size(p * row_ + d)] += factor * arc.weight[j][i];
        }
      }
    });
    for (std::int64_t p = 0; p < margin_; ++p) {
      lines[p * stride].assign(sums_.data() + p * row_, row_);
    }
  }

 private:
  std::int64_t margin_;
  std::int64_t row_;
  GridCircle circle_;
  CellBox box_;
  CircleWeights weights_;
  std::vector<double> sums_;
};

/// Makes the table of the ends of x; reach: the largest offset along y.
SideTable side_of(Interpolation interpolation, const GridCircle& circle, std::int64_t n,
                  std::int64_t reach) {
  SideTable table;
  table.margin = margin_of(interpolation);
  table.n_targets = count_targets(interpolation, circle.x, n);
  std::vector<SideLine> lines(to_size(table.margin * table.n_targets));
  FirstError error;
#pragma omp parallel
  {
    std::optional<SideMaker> maker;
#pragma omp for schedule(dynamic, 4)
    for (std::int64_t a = 0; a < table.n_targets; ++a) {
      error.guard([&] {
        if (!maker) maker.emplace(interpolation, circle, reach);
        maker->make(a, lines.data() + a, table.n_targets);
      });
    }
  }
  error.rethrow();
  for (const SideLine& line : lines) {
    table.run_begin.push_back(ssize64(table.runs));
    for (SideTable::Run run : line.runs) {
      run.begin += ssize64(table.weights);
      table.runs.push_back(run);
    }
    table.weights.insert(table.weights.end(), line.weights.begin(), line.weights.end());
  }
  table.run_begin.push_back(ssize64(table.runs));
  table.runs.shrink_to_fit();
  table.weights.shrink_to_fit();
  return table;
}

/// Targets a >= 0 whose circle, of semi-axis r, may pass through the cells 0 .. width - 1: those in
/// [begin, end) and those before `near_end`.
struct CrossingTargets {
  std::int64_t near_end = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;

  std::int64_t count() const { return end - begin + near_end; }
};

/// Returns the root of 1 - (distance / radius)^2 or, beyond the radius, -1.
double half_chord(double distance, double radius) {
  const double square = (radius - distance) * (radius + distance);
  return square < 0 ? -1 : std::sqrt(square) / radius;
}

/// Returns the targets (a, b), a < n, of a given b, whose circle passes through a box of width x
/// height cells in the corner.
CrossingTargets crossing_targets(const GridCircle& circle, std::int64_t width, std::int64_t height,
                                 std::int64_t b, std::int64_t n) {
  if (circle.is_point()) return {0, 0, b < height ? std::min(width, n) : 0};
  const auto x = static_cast<double>(width);
  const auto y = static_cast<double>(height);
  const auto at = static_cast<double>(b);
  const double nearest = half_chord(std::max(0.0, at - y), circle.y);
  if (nearest < 0) return {};
  const auto up_to = [n](double a) {
    return std::clamp(static_cast<std::int64_t>(std::ceil(std::min(a, most_radius))),
                      std::int64_t{0}, n);
  };
  CrossingTargets targets;
  targets.end = up_to(x + circle.x * nearest);
  const double farthest = half_chord(std::max(at, y - at), circle.y);
  if (farthest < 0) return targets;
  const double inside = circle.x * farthest;
  targets.begin = std::min(up_to(inside), targets.end);
  targets.near_end = std::min(up_to(x - inside), targets.begin);
  return targets;
}

/// Weights of all sources in a corner, [q * margin + p], for one target.
struct CornerTarget {
  std::int32_t b = 0;
  std::array<double, most_margin * most_margin> weights{};
};

/// Weights of the sources in the corner of a quarter of a plane.
class CornerMaker {
 public:
  CornerMaker(Interpolation interpolation, const GridCircle& circle, std::int64_t n_y)
      : margin_(margin_of(interpolation)),
        strip_(strip_of(interpolation)),
        n_y_(n_y),
        circle_(circle),
        weights_(interpolation, {.at_begin = true}, {.at_begin = true}) {}

  /// Returns the targets of column a.
  std::vector<CornerTarget> make(std::int64_t a) {
    std::vector<CornerTarget> made;
    const CrossingTargets targets = crossing_targets(transposed(circle_), strip_, strip_, a, n_y_);
    for (std::int64_t b = 0; b < targets.near_end; ++b) made.push_back(target(a, b));
    for (std::int64_t b = targets.begin; b < targets.end; ++b) made.push_back(target(a, b));
    return made;
  }

 private:
  CornerTarget target(std::int64_t a, std::int64_t b) {
    CornerTarget target{static_cast<std::int32_t>(b)};
    weights_.visit(circle_, point_at(a, b), {{0, strip_}, {0, strip_}},
                   [&](const ArcWeights& arc) { add(arc, target); });
    return target;
  }
  void add(const ArcWeights& arc, CornerTarget& target) const {
    for (std::size_t j = 0; j < arc.y_count; ++j) {
      const std::int64_t q = arc.y_first + static_cast<std::int64_t>(j);
      if (q >= margin_) continue;
      for (std::size_t i = 0; i < arc.x_count; ++i) {
        const std::int64_t p = arc.x_first + static_cast<std::int64_t>(i);
        if (p < margin_) target.weights[to_size(q * margin_ + p)] += arc.weight[j][i];
      }
    }
  }

  std::int64_t margin_;
  std::int64_t strip_;
  std::int64_t n_y_;
  GridCircle circle_;
  CircleWeights weights_;
};

/// Adds the weights of a source for the targets of column a, in runs.
void append_column(const std::vector<CornerTarget>& column, std::int64_t a, std::int64_t source,
                   CornerTable& table) {
  bool is_open = false;
  for (const CornerTarget& target : column) {
    const double weight = target.weights[to_size(source)];
    if (weight == 0) continue;
    // A gap of one zero takes less than another run.
    const auto gap = is_open ? target.b - (table.runs.back().b + table.runs.back().count) : 2;
    if (gap > 1) table.runs.push_back({static_cast<std::int32_t>(a), target.b, 0});
    if (gap == 1) table.weights.push_back(0);
    table.weights.push_back(weight);
    table.runs.back().count = target.b + 1 - table.runs.back().b;
    is_open = true;
  }
}

CornerTable corner_of(const StencilTables& tables, std::int64_t n_x, std::int64_t n_y) {
  CornerTable table;
  table.margin = margin_of(tables.interpolation);
  table.is_symmetric = is_symmetric(tables.circle, n_x, n_y);
  const std::int64_t n_columns = count_targets(tables.interpolation, tables.circle.x, n_x);
  checked_cast<std::int32_t>(std::max(n_x, n_y), "nodes of an axis");
  std::vector<std::vector<CornerTarget>> columns(to_size(n_columns));
  FirstError error;
#pragma omp parallel
  {
    CornerMaker maker(tables.interpolation, tables.circle, n_y);
#pragma omp for schedule(dynamic, 4)
    for (std::int64_t a = 0; a < n_columns; ++a) {
      error.guard([&] { columns[to_size(a)] = maker.make(a); });
    }
  }
  error.rethrow();
  for (std::int64_t q = 0; q < table.margin; ++q) {
    for (std::int64_t p = 0; p < table.margin; ++p) {
      table.sources.push_back({ssize64(table.runs), 0, ssize64(table.weights)});
      for (std::int64_t a = 0; a < n_columns && !table.is_exchanged(p, q); ++a)
        append_column(columns[to_size(a)], a, q * table.margin + p, table);
      table.sources.back().run_end = ssize64(table.runs);
    }
  }
  table.runs.shrink_to_fit();
  table.weights.shrink_to_fit();
  return table;
}

/// Bounds the offsets along y of the arcs in the first `width` cells about a target a from the end.
std::int64_t count_offsets(Interpolation interpolation, const GridCircle& circle,
                           std::int64_t width, std::int64_t a, std::int64_t reach) {
  if (circle.is_point()) return a < width ? 1 : 0;
  const auto target = static_cast<double>(a);
  const auto x = static_cast<double>(width);
  const double top = half_chord(std::max(0.0, target - x), circle.x);
  if (top < 0) return 0;
  const double bottom = std::max(0.0, half_chord(std::max(target, x - target), circle.x));
  const auto first = static_cast<std::int64_t>(std::floor(circle.y * bottom));
  const auto last = static_cast<std::int64_t>(std::ceil(circle.y * top)) - 1;
  const std::int64_t begin = std::max(std::int64_t{0}, first - nodes_before(interpolation));
  return std::max(std::int64_t{0}, std::min(last + nodes_after(interpolation), reach) - begin + 1);
}

std::int64_t side_bytes(Interpolation interpolation, const GridCircle& circle, std::int64_t n,
                        std::int64_t reach) {
  const std::int64_t n_targets = count_targets(interpolation, circle.x, n);
  std::int64_t bytes = sizeof(std::int64_t);
  for (std::int64_t p = 0; p < margin_of(interpolation); ++p) {
    const std::int64_t width = p + cells_beyond(interpolation);
    for (std::int64_t a = 0; a < n_targets; ++a) {
      const std::int64_t offsets = count_offsets(interpolation, circle, width, a, reach);
      bytes += std::int64_t{sizeof(std::int64_t)};
      if (offsets == 0) continue;
      bytes += std::int64_t{sizeof(SideTable::Run)} + offsets * std::int64_t{sizeof(double)};
    }
  }
  return bytes;
}

std::int64_t corner_bytes(Interpolation interpolation, const GridCircle& circle, std::int64_t n_x,
                          std::int64_t n_y) {
  const std::int64_t margin = margin_of(interpolation);
  const std::int64_t n_columns = count_targets(interpolation, circle.x, n_x);
  const std::int64_t beyond = cells_beyond(interpolation);
  const bool is_half = is_symmetric(circle, n_x, n_y);
  std::int64_t bytes = margin * margin * std::int64_t{sizeof(CornerTable::Source)};
  for (std::int64_t q = 0; q < margin; ++q) {
    for (std::int64_t p = 0; p < (is_half ? q + 1 : margin); ++p) {
      for (std::int64_t a = 0; a < n_columns; ++a) {
        const CrossingTargets targets =
            crossing_targets(transposed(circle), q + beyond, p + beyond, a, n_y);
        const std::int64_t runs = (targets.near_end > 0) + (targets.end > targets.begin);
        bytes += targets.count() * std::int64_t{sizeof(double)} +
                 runs * std::int64_t{sizeof(CornerTable::Run)};
      }
    }
  }
  return bytes;
}

}  // namespace

std::int64_t StencilTables::bytes() const {
  return held_bytes(interior, x_side.run_begin, x_side.runs, x_side.weights, y_side.run_begin,
                    y_side.runs, y_side.weights, corner.sources, corner.runs, corner.weights);
}

StencilTables make_stencil_tables(Interpolation interpolation, const GridCircle& circle,
                                  std::int64_t n_x, std::int64_t n_y, PlaneBoundary x_boundary,
                                  PlaneBoundary y_boundary) {
  StencilTables tables;
  tables.circle = rounded_circle(circle);
  tables.interpolation = interpolation;
  const AxisOffsets x(interpolation, tables.circle.x, n_x, x_boundary);
  const AxisOffsets y(interpolation, tables.circle.y, n_y, y_boundary);
  tables.reach_x = x.folded_reach();
  tables.reach_y = y.folded_reach();
  tables.interior = interior_of(tables, x, y);
  if (x.has_ends()) tables.x_side = side_of(interpolation, tables.circle, n_x, y.reach);
  const bool are_same = x.has_ends() && is_symmetric(tables.circle, n_x, n_y);
  if (y.has_ends() && !are_same)
    tables.y_side = side_of(interpolation, transposed(tables.circle), n_y, x.reach);
  if (x.has_ends() && y.has_ends()) tables.corner = corner_of(tables, n_x, n_y);
  return tables;
}

StencilTableBytes stencil_table_bytes(Interpolation interpolation, const GridCircle& circle,
                                      std::int64_t n_x, std::int64_t n_y, PlaneBoundary x_boundary,
                                      PlaneBoundary y_boundary) {
  const GridCircle rounded = rounded_circle(circle);
  const AxisOffsets x(interpolation, rounded.x, n_x, x_boundary);
  const AxisOffsets y(interpolation, rounded.y, n_y, y_boundary);
  StencilTableBytes bytes;
  bytes.interior = (x.folded_reach() + 1) * (y.folded_reach() + 1) * std::int64_t{sizeof(double)};
  if (x.has_ends()) bytes.sides += side_bytes(interpolation, rounded, n_x, y.reach);
  if (y.has_ends() && !(x.has_ends() && is_symmetric(rounded, n_x, n_y)))
    bytes.sides += side_bytes(interpolation, transposed(rounded), n_y, x.reach);
  if (x.has_ends() && y.has_ends()) bytes.sides += corner_bytes(interpolation, rounded, n_x, n_y);
  // The arcs of a quadrant and their ends, in vectors that grow to twice the length at a time.
  bytes.making = 3 * (x.reach + y.reach) * std::int64_t{sizeof(CircleArc) + sizeof(double)};
  return bytes;
}

}  // namespace ringweave::detail::inline gyro
