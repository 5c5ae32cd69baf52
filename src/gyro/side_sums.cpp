// SPDX-License-Identifier: GPL-3.0-or-later
#include "gyro/side_sums.hpp"

#include <algorithm>

#include "base/checked_cast.hpp"
#include "gyro/host/line_taps.hpp"

namespace ringweave::detail::inline gyro {
namespace {

// Lines of targets that are summed at once: neighbours have weights for about the same offsets.
constexpr std::int64_t line_group = 16;

constexpr std::int64_t round_up(std::int64_t n, std::int64_t block) {
  return (n + block - 1) / block * block;
}

SideLines side_lines(std::int64_t n, std::int64_t margin, std::int64_t targets, std::int64_t length,
                     std::int64_t reach, std::int64_t first) {
  SideLines lines;
  lines.is_used = true;
  lines.n = n;
  lines.margin = margin;
  lines.targets = targets;
  lines.n_targets = std::min(n, 2 * targets);
  lines.length = length;
  lines.reach = reach;
  lines.before = round_up(reach, 8);
  lines.stride = 2 * lines.before + round_up(length, line_block);
  // An odd number of cache lines: positions of all lines are then spread over the whole cache.
  if (lines.stride % 16 == 0) lines.stride += 8;
  lines.first = first + lines.before;
  return lines;
}

/// Fills the continuation of a line, whose positions 0 .. n - 1 are there.
void continue_line(PlaneBoundary boundary, std::int64_t n, std::int64_t reach, double* line) {
  if (boundary == PlaneBoundary::zero) {
    std::fill(line - reach, line, 0.0);
    std::fill(line + n, line + n + reach, 0.0);
    return;
  }
  const bool is_periodic = boundary == PlaneBoundary::periodic;
  // From the ends outwards, so that a continuation longer than the line continues itself.
  for (std::int64_t i = 1; i <= reach; ++i) {
    line[-i] = is_periodic ? line[n - i] : line[i];
    line[n - 1 + i] = is_periodic ? line[i - 1] : line[n - 1 - i];
  }
}

bool is_zero(const double* values, std::int64_t n) {
  return std::all_of(values, values + n, [](double value) { return value == 0; });
}

/// Adds the contributions of sources to a piece of some lines of targets.
void scatter(const SideLines& lines, const SideTable& table, double weight, RowRange targets,
             RowRange piece, const double* is_nonzero, double* work) {
  for (std::int64_t end = 0; end < 2; ++end) {
    const std::int64_t a = end == 0 ? targets.begin : lines.n_targets - targets.end;
    TapLines to{&table};
    to.count = std::min(targets.size(), table.n_targets - a);
    to.rows_apart = 1;
    to.lines_apart = end == 0 ? lines.stride : -lines.stride;
    to.reach = lines.reach;
    for (std::int64_t p = 0; p < lines.margin && to.count > 0; ++p) {
      if (is_nonzero[end * lines.margin + p] == 0) continue;
      to.first_row = p * table.n_targets + a;
      add_line_taps(to, weight, work + lines.source(end, p) + piece.begin,
                    work + lines.target(end, a) + piece.begin, piece.size());
    }
  }
}

/// Adds the contributions of targets to a piece of lines of sources at an end.
void gather(const SideLines& lines, const SideTable& table, double weight, std::int64_t end,
            RowRange sources, RowRange piece, double* work) {
  TapLines to{&table};
  to.count = sources.size();
  to.rows_apart = table.n_targets;
  to.lines_apart = lines.stride;
  to.reach = lines.reach;
  double* const first = work + lines.source(end, sources.begin) + piece.begin;
  for (std::int64_t a = 0; a < table.n_targets; ++a) {
    to.first_row = sources.begin * table.n_targets + a;
    add_line_taps(to, weight, work + lines.target(end, a) + piece.begin, first, piece.size());
  }
}

std::int64_t n_pieces(const SideLines& lines) {
  return lines.is_used ? (lines.length + most_values - 1) / most_values : 0;
}
RowRange piece_of(const SideLines& lines, std::int64_t number) {
  const std::int64_t begin = number * most_values;
  return {begin, std::min(round_up(lines.length, line_block), begin + most_values)};
}

}  // namespace

SideSums::SideSums(const SideGeometry& geometry) : geometry_(geometry) {
  const RowRange own = geometry.rows.own;
  if (own.size() > 0 && geometry.x_ends()) {
    x_ = side_lines(geometry.n_x, geometry.margin, geometry.targets_x, own.size(), geometry.reach_y,
                    0);
    x_.own_targets = {0, x_.n_targets};
  }
  if (has_end_y(0) || has_end_y(1)) {
    y_ = side_lines(geometry.rows.n, geometry.margin, geometry.targets_y, geometry.n_x,
                    geometry.reach_x, x_.size());
    y_.own_targets = {y_.targets_before(own.begin), y_.targets_before(own.end)};
  }
  corners_ = x_.size() + y_.size();
  is_nonzero_ = corners_ + 4 * geometry.margin * geometry.margin;
  work_size_ = round_up(is_nonzero_ + 4 * geometry.margin, 8);
}

bool SideSums::has_end_y(std::int64_t end) const {
  const HeldRows& rows = geometry_.rows;
  if (!geometry_.y_ends() || rows.own.size() == 0) return false;
  return end == 0 ? rows.own.begin < geometry_.targets_y
                  : rows.own.end > rows.n - geometry_.targets_y;
}

RowRange SideSums::own_sources(const SideLines& lines, std::int64_t end) const {
  if (&lines == &x_) return {0, lines.margin};
  const RowRange own = geometry_.rows.own;
  const std::int64_t nearest = end == 0 ? own.begin : lines.n - own.end;
  return {std::min(nearest, lines.margin), std::min(nearest + own.size(), lines.margin)};
}

void SideSums::clear(Direction direction, double* work) const {
  const bool is_average = direction == Direction::average;
  for (const SideLines* lines : {&x_, &y_}) {
    if (!lines->is_used) continue;
    const std::int64_t n_sources = 2 * lines->margin;
    double* const begin = work + lines->first - lines->before;
    std::fill_n(begin + (is_average ? n_sources * lines->stride : 0),
                (is_average ? lines->n_targets : n_sources) * lines->stride, 0.0);
  }
  if (!is_average) std::fill(work + corners_, work + is_nonzero_, 0.0);
}

void SideSums::load(Direction direction, const double* held, double* work, int n_threads) const {
  if (direction == Direction::average) {
    load_sources(held, work);
  } else {
    load_targets(held, work, n_threads);
  }
}

void SideSums::load_sources(const double* held, double* work) const {
  const HeldRows& rows = geometry_.rows;
  const std::int64_t m = geometry_.margin;
  const auto is_outermost = [m](std::int64_t i, std::int64_t n) { return i < m || i >= n - m; };
  for (std::int64_t k = -x_.reach; x_.is_used && k < x_.length + x_.reach; ++k) {
    std::int64_t row = rows.held_at(rows.own.begin + k);
    // Corners are summed separately.
    if (row >= 0 && geometry_.y_ends() && is_outermost(rows.row(row), rows.n)) row = -1;
    for (std::int64_t end = 0; end < 2; ++end) {
      for (std::int64_t p = 0; p < m; ++p) {
        work[x_.source(end, p) + k] =
            row < 0 ? 0.0 : held[row * geometry_.n_x + x_.from_end(end, p)];
      }
    }
  }
  note_zero_lines(x_, 0, work);
  for (std::int64_t i = 0; y_.is_used && i < 2 * m; ++i) {
    double* const line = work + y_.source(i / m, i % m);
    if (!has_end_y(i / m)) {
      std::fill(line - y_.reach, line + y_.length + y_.reach, 0.0);
      continue;
    }
    const std::int64_t row = rows.held_at(y_.from_end(i / m, i % m));
    const double* const from = held + row * geometry_.n_x;
    std::copy_n(from, geometry_.n_x, line);
    for (std::int64_t p = 0; has_corners() && p < m; ++p) {
      for (std::int64_t end = 0; end < 2; ++end) {
        const std::int64_t column = x_.from_end(end, p);
        work[corner(end, i / m) + i % m * m + p] = from[column];
        line[column] = 0;
      }
    }
    continue_line(geometry_.x_boundary, geometry_.n_x, y_.reach, line);
  }
  for (std::int64_t end = 0; has_corners() && end < 2; ++end) {
    if (!has_end_y(end)) std::fill_n(work + corner(0, end), 2 * m * m, 0.0);
  }
  note_zero_lines(y_, 2 * m, work);
}

void SideSums::note_zero_lines(const SideLines& lines, std::int64_t first, double* work) const {
  if (!lines.is_used) return;
  for (std::int64_t i = 0; i < 2 * lines.margin; ++i) {
    const double* const line = work + lines.source(i / lines.margin, i % lines.margin);
    const bool is_empty = is_zero(line - lines.reach, lines.length + 2 * lines.reach);
    work[is_nonzero_ + first + i] = is_empty ? 0.0 : 1.0;
  }
}

void SideSums::load_targets(const double* held, double* work, int n_threads) const {
  const HeldRows& rows = geometry_.rows;
  const std::int64_t n_x_lines = x_.is_used ? x_.n_targets : 0;
  const std::int64_t n_y_lines = y_.is_used ? y_.n_targets : 0;
#pragma omp parallel num_threads(n_threads)
  {
#pragma omp for nowait
    for (std::int64_t k = -x_.reach; k < x_.length + x_.reach; ++k) {
      const std::int64_t row = rows.held_at(rows.own.begin + k);
      for (std::int64_t line = 0; line < n_x_lines; ++line) {
        work[x_.target_line(line) + k] =
            row < 0 ? 0.0 : held[row * geometry_.n_x + x_.of_target_line(line)];
      }
    }
#pragma omp for
    for (std::int64_t line = 0; line < n_y_lines; ++line) {
      const std::int64_t row = y_.of_target_line(line);
      // Others belong to an end that this rank has no sources of.
      if (row < rows.positions.begin || row >= rows.positions.end) continue;
      double* const to = work + y_.target_line(line);
      std::copy_n(held + rows.held_at(row) * geometry_.n_x, geometry_.n_x, to);
      continue_line(geometry_.x_boundary, geometry_.n_x, y_.reach, to);
    }
  }
}

void SideSums::add(Direction direction, const StencilTables& tables, double weight, double* work,
                   int n_threads) const {
  const bool is_average = direction == Direction::average;
  const auto n_groups = [&](const SideLines& lines) {
    return is_average ? (lines.own_targets.size() + line_group - 1) / line_group : 2;
  };
  const std::int64_t x_tasks = n_pieces(x_) * n_groups(x_);
  const std::int64_t y_tasks = n_pieces(y_) * n_groups(y_);
#pragma omp parallel for num_threads(n_threads) schedule(dynamic)
  for (std::int64_t task = 0; task < x_tasks + y_tasks; ++task) {
    const bool is_x = task < x_tasks;
    const SideLines& lines = is_x ? x_ : y_;
    const SideTable& table = is_x ? tables.x_side : tables.side_of_y();
    const std::int64_t i = is_x ? task : task - x_tasks;
    const std::int64_t group = i / n_pieces(lines);
    const RowRange piece = piece_of(lines, i % n_pieces(lines));
    if (is_average) {
      const std::int64_t begin = lines.own_targets.begin + group * line_group;
      scatter(lines, table, weight, {begin, std::min(begin + line_group, lines.own_targets.end)},
              piece, work + is_nonzero_ + (is_x ? 0 : 2 * geometry_.margin), work);
    } else {
      gather(lines, table, weight, group, own_sources(lines, group), piece, work);
    }
  }
  if (!has_corners()) return;
  if (is_average) {
    add_corners(tables.corner, weight, work, n_threads);
  } else {
    gather_corners(tables.corner, weight, work, n_threads);
  }
}

template <class Visit>
void SideSums::for_corner_runs(const CornerTable& table, std::int64_t p, std::int64_t q,
                               std::int64_t end_y, RowRange rows, const Visit& visit) const {
  const bool is_exchanged = table.is_exchanged(p, q);
  // Row b from the end is at position `first` + step b.
  const std::int64_t step = end_y == 0 ? 1 : -1;
  const std::int64_t first = y_.from_end(end_y, 0) - geometry_.rows.own.begin;
  const std::int64_t b_begin = end_y == 0 ? rows.begin : y_.n - rows.end;
  const std::int64_t b_end = end_y == 0 ? rows.end : y_.n - rows.begin;
  const CornerTable::Source& source = table.source(p, q);
  const double* weights = table.weights.data() + source.weight_begin;
  for (std::int64_t r = source.run_begin; r < source.run_end; ++r) {
    const CornerTable::Run& run = table.runs[to_size(r)];
    const double* const of_run = weights;
    weights += run.count;
    if (is_exchanged) {
      if (run.a < b_begin || run.a >= b_end) continue;
      const std::int64_t at = first + step * run.a;
      visit(CornerRun{of_run, run.count, x_.target(0, run.b) + at, x_.target(1, run.b) + at,
                      x_.stride, -x_.stride});
      continue;
    }
    const std::int64_t begin = std::max<std::int64_t>(run.b, b_begin);
    const std::int64_t count = std::min<std::int64_t>(run.b + run.count, b_end) - begin;
    if (count <= 0) continue;
    const std::int64_t at = first + step * begin;
    visit(CornerRun{of_run + begin - run.b, count, x_.target(0, run.a) + at,
                    x_.target(1, run.a) + at, step, step});
  }
}

void SideSums::add_corners(const CornerTable& table, double weight, double* work,
                           int n_threads) const {
  const RowRange own = geometry_.rows.own;
  const std::int64_t n_sources = table.margin * table.margin;
  // Threads share the rows of targets.
#pragma omp parallel for num_threads(n_threads)
  for (std::int64_t part = 0; part < n_threads; ++part) {
    const RowRange rows{own.begin + own.size() * part / n_threads,
                        own.begin + own.size() * (part + 1) / n_threads};
    for (std::int64_t i = 0; i < 2 * n_sources; ++i) {
      const std::int64_t source = i / 2;
      const std::int64_t end_y = i % 2;
      const double left = weight * work[corner(0, end_y) + source];
      const double right = weight * work[corner(1, end_y) + source];
      if (left == 0 && right == 0) continue;
      for_corner_runs(table, source % table.margin, source / table.margin, end_y, rows,
                      [&](const CornerRun& run) {
                        double* const to_left = work + run.left;
                        double* const to_right = work + run.right;
                        for (std::int64_t k = 0; k < run.count; ++k) {
                          to_left[k * run.left_step] += left * run.weights[k];
                          to_right[k * run.right_step] += right * run.weights[k];
                        }
                      });
    }
  }
}

void SideSums::gather_corners(const CornerTable& table, double weight, double* work,
                              int n_threads) const {
  const std::int64_t n_sources = table.margin * table.margin;
#pragma omp parallel for num_threads(n_threads) schedule(dynamic)
  for (std::int64_t i = 0; i < 2 * n_sources; ++i) {
    const std::int64_t source = i / 2;
    const std::int64_t end_y = i % 2;
    if (!is_own(y_.from_end(end_y, source / table.margin))) continue;
    double left = 0;
    double right = 0;
    for_corner_runs(table, source % table.margin, source / table.margin, end_y, {0, y_.n},
                    [&](const CornerRun& run) {
                      for (std::int64_t k = 0; k < run.count; ++k) {
                        left += run.weights[k] * work[run.left + k * run.left_step];
                        right += run.weights[k] * work[run.right + k * run.right_step];
                      }
                    });
    work[corner(0, end_y) + source] += weight * left;
    work[corner(1, end_y) + source] += weight * right;
  }
}

void SideSums::store(Direction direction, const double* work, double* plane,
                     std::int64_t row_stride, int n_threads) const {
  const std::int64_t m = geometry_.margin;
  const RowRange own = geometry_.rows.own;
#pragma omp parallel for num_threads(n_threads)
  for (std::int64_t row = own.begin; row < own.end; ++row) {
    const std::int64_t i = row - own.begin;
    double* const to = plane + i * row_stride;
    if (direction == Direction::average) {
      for (std::int64_t line = 0; x_.is_used && line < x_.n_targets; ++line)
        to[x_.of_target_line(line)] += work[x_.target_line(line) + i];
      const std::int64_t line = y_.is_used ? y_.target_line_of(row) : -1;
      if (line < 0) continue;
      const double* const sums = work + y_.target_line(line);
      for (std::int64_t j = 0; j < geometry_.n_x; ++j) to[j] += sums[j];
      continue;
    }
    const std::int64_t end_y = row < m ? 0 : 1;
    const std::int64_t q = end_y == 0 ? row : geometry_.rows.n - 1 - row;
    const bool is_y_source = geometry_.y_ends() && q < m;
    if (is_y_source) std::copy_n(work + y_.source(end_y, q), geometry_.n_x, to);
    for (std::int64_t k = 0; x_.is_used && k < 2 * m; ++k) {
      const std::int64_t p = k % m;
      to[x_.from_end(k / m, p)] =
          is_y_source ? work[corner(k / m, end_y) + q * m + p] : work[x_.source(k / m, p) + i];
    }
  }
}

}  // namespace ringweave::detail::inline gyro
