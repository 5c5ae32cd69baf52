// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "distribute/ring_distribution.hpp"
#include "ringweave/grid.hpp"
#include "sphere/fine_position.hpp"

namespace ringweave::detail::inline distribute {

/// Tells whether rows that no point touches exist. Where they are kept, the rows of a rank can be
/// the same for several sets of points.
enum class UntouchedRows { left_out, kept };

/// The rows that points take their values from.
struct FineRows {
  std::shared_ptr<const RingGrid> grid;  ///< RingGrid::fejer(): all rows, touched or not
  int n_taps = 0;                        ///< rows of a point, 1..32
  int n_column_taps = 0;                 ///< columns of a point on each row
  UntouchedRows untouched = UntouchedRows::left_out;

  std::int64_t n_rows() const { return grid->n_rings(); }
  std::int64_t n_columns() const { return grid->ring(RingId{0}).n_phi; }
  /// Points with the same first tap have the same rows. Returns the number of first taps.
  std::int64_t n_first_taps() const { return n_rows() + 1; }
  /// Returns the number of a point's first tap among them.
  std::int64_t first_tap_of(double theta) const {
    return first_tap(row_position(theta, n_rows()), n_taps) + taps_beyond_pole();
  }
  /// Computes first_tap_of() each point.
  void number_first_taps(std::span<const double> theta, std::int32_t* numbers) const;
  /// Returns the row under tap i of points with this first tap.
  std::int64_t row(std::int64_t number, int i) const {
    return folded_row(number - taps_beyond_pole() + i, n_rows()).row;
  }
  /// Returns all rows from the least to the greatest one that points with first taps from `first`
  /// to `last` have.
  RingRange rows_between(std::int64_t first, std::int64_t last) const;

 private:
  /// The most taps a point has north of the pole.
  std::int64_t taps_beyond_pole() const { return (n_taps + 1) / 2; }
};

/// Throws UsageError unless these are all rows of a Fejer grid and a possible number of taps.
void require_rows(const FineRows& rows);

/// Cost of a row, in arbitrary units.
struct RowCosts {
  std::int64_t of_point = 1;  ///< of the taps of one point on one row
  std::int64_t of_row = 0;    ///< of the row itself: its FFT and modes

  /// A point takes as long on one row as the FFT of one pixel, in the adjoint 1.4 times as long
  /// (measured at lmax 1023, 8 taps).
  /// Where untouched rows are kept only rows count, so that those of a rank do not depend on
  /// points.
  static RowCosts typical(const FineRows& rows) {
    return rows.untouched == UntouchedRows::kept ? RowCosts{0, 1} : RowCosts{1, rows.n_columns()};
  }
};

/// Points, rows and taps of a rank.
struct PointLoad {
  std::int64_t points = 0;  ///< those that touch its rows
  std::int64_t rows = 0;
  std::int64_t taps = 0;  ///< points on each of its rows
};

/// The owners of the fine rows that points touch (or of all), and the ranks that sum a point. A
/// rank owns a band of rows and its southern mirror; a point belongs to every rank that owns one of
/// its rows, which sums those rows only. Plain data, the same on every rank, made from the number
/// of points alone.
class PointPlan {
 public:
  /// points  [first tap] points of all ranks
  /// Error  UsageError when rows, counts or costs are not possible.
  PointPlan(FineRows rows, std::span<const std::int64_t> points, const RowCosts& costs,
            int n_ranks);

  const FineRows& rows() const { return rows_; }
  int n_ranks() const { return rings_->n_ranks(); }
  std::int64_t n_points() const { return n_points_; }
  /// The existing rows and their owners, as rings of a subset of the grid. If none exists it has
  /// row 0 alone, because no grid is empty.
  const RingDistribution& rings() const { return *rings_; }
  /// Returns whether a row exists: a point touches it, or untouched rows are kept.
  bool exists(std::int64_t row) const { return ring_[static_cast<std::size_t>(row)] >= 0; }
  /// Returns the ring of rings() that an existing row is.
  RingId ring(std::int64_t row) const { return RingId{ring_[static_cast<std::size_t>(row)]}; }
  int owner(std::int64_t row) const { return rings_->owner(ring(row)); }
  /// Returns the ranks of the points with a first tap, in the order of the taps.
  std::span<const int> ranks(std::int64_t first_tap) const {
    const std::size_t begin = ranks_begin_[static_cast<std::size_t>(first_tap)];
    return std::span(ranks_).subspan(begin,
                                     ranks_begin_[static_cast<std::size_t>(first_tap) + 1] - begin);
  }

  const PointLoad& load(int rank) const { return loads_[static_cast<std::size_t>(rank)]; }
  /// Returns the largest of each number over the ranks.
  PointLoad most() const;
  /// Returns the sum of each number over the ranks; a mean is a share of it.
  PointLoad total() const;
  std::int64_t bytes() const;  ///< without the grid and rings()

 private:
  void place_rows(std::span<const std::int64_t> taps, const RowCosts& costs, int n_ranks);
  void list_ranks(std::span<const std::int64_t> points);

  FineRows rows_;
  std::int64_t n_points_ = 0;
  std::optional<RingDistribution> rings_;
  std::vector<std::int64_t> ring_;        ///< [row], -1 where it does not exist
  std::vector<std::size_t> ranks_begin_;  ///< [first tap]
  std::vector<int> ranks_;
  std::vector<PointLoad> loads_;  ///< [rank]
};

}  // namespace ringweave::detail::inline distribute
