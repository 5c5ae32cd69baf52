// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "gyro/row_bands.hpp"
#include "gyro/scheme.hpp"
#include "gyro/side_lines.hpp"
#include "gyro/stencil_tables.hpp"

namespace ringweave::detail::inline gyro {

/// The plane whose outermost sources are summed, and the largest reach and targets of any radius.
struct SideGeometry {
  std::int64_t margin = 0;  ///< outermost sources of an end
  PlaneBoundary x_boundary = PlaneBoundary::zero;
  std::int64_t n_x = 0;
  HeldRows rows;               ///< of this rank
  std::int64_t reach_x = 0;    ///< offsets along the ends of y; those beyond never act
  std::int64_t reach_y = 0;    ///< along the ends of x; not more than the halo of `rows`, if any
  std::int64_t targets_x = 0;  ///< next to an end of x that have weights
  std::int64_t targets_y = 0;

  bool x_ends() const { return x_boundary == PlaneBoundary::zero; }
  bool y_ends() const { return rows.boundary == PlaneBoundary::zero; }
};

/// Sums over the outermost sources of a plane, which have weights of their own next to the ends of
/// axes with boundary zero, and the transpose. Lines of sources and targets are copied with their
/// continuation; taps are summed along them. Constant after construction; memory is the caller's,
/// work_size() doubles for each plane, zero at first. The same bits for any number of threads.
///
///   average    load: sources;  add: to targets;  store: adds targets to a plane
///   transpose  load: targets;  add: to sources;  store: overwrites the outermost sources
class SideSums {
 public:
  explicit SideSums(const SideGeometry& geometry);

  std::int64_t work_size() const { return work_size_; }
  const SideGeometry& geometry() const { return geometry_; }
  const SideLines& x_lines() const { return x_; }  ///< columns
  const SideLines& y_lines() const { return y_; }  ///< rows
  bool has_corners() const { return x_.is_used && y_.is_used; }
  /// Returns where the sources of a corner are in the work: [q][p].
  std::int64_t corner(std::int64_t end_x, std::int64_t end_y) const {
    return corners_ + (2 * end_y + end_x) * geometry_.margin * geometry_.margin;
  }
  /// Tells whether targets of this rank are next to an end of y.
  bool has_end_y(std::int64_t end) const;
  /// Returns the lines of sources next to an end that this rank has.
  RowRange own_sources(const SideLines& lines, std::int64_t end) const;

  void clear(Direction direction, double* work) const;
  /// held  [row held][x]
  void load(Direction direction, const double* held, double* work, int n_threads) const;
  void add(Direction direction, const StencilTables& tables, double weight, double* work,
           int n_threads) const;
  /// plane  [own row][x], rows `row_stride` apart
  void store(Direction direction, const double* work, double* plane, std::int64_t row_stride,
             int n_threads) const;

 private:
  /// Weights of a source in a corner for consecutive targets, and where sums of those next to both
  /// ends of x are in the work.
  struct CornerRun {
    const double* weights = nullptr;
    std::int64_t count = 0;
    std::int64_t left = 0;
    std::int64_t right = 0;
    std::int64_t left_step = 0;
    std::int64_t right_step = 0;
  };

  void load_sources(const double* held, double* work) const;
  void load_targets(const double* held, double* work, int n_threads) const;
  void note_zero_lines(const SideLines& lines, std::int64_t first, double* work) const;
  /// Calls visit(CornerRun) for the targets of source (p, q) in some rows.
  template <class Visit>
  void for_corner_runs(const CornerTable& table, std::int64_t p, std::int64_t q, std::int64_t end_y,
                       RowRange rows, const Visit& visit) const;
  void add_corners(const CornerTable& table, double weight, double* work, int n_threads) const;
  void gather_corners(const CornerTable& table, double weight, double* work, int n_threads) const;
  bool is_own(std::int64_t row) const {
    return row >= geometry_.rows.own.begin && row < geometry_.rows.own.end;
  }

  SideGeometry geometry_;
  SideLines x_;  ///< columns
  SideLines y_;  ///< rows
  std::int64_t corners_ = 0;
  std::int64_t is_nonzero_ = 0;  ///< 1 or 0 for each line of sources, columns first
  std::int64_t work_size_ = 0;
};

}  // namespace ringweave::detail::inline gyro
