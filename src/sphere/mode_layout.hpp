// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/row_range.hpp"
#include "ringweave/grid.hpp"

namespace ringweave::detail::inline sphere {

/// Consecutive rings whose modes of one order are stored consecutively: ring r at position first +
/// (r - rings.begin).
struct RowSegment {
  RingRange rings;
  std::int64_t first = 0;
};

/// Layout of the ragged rows of ring modes in one buffer. A row is one order; it holds the modes of
/// the rings that keep that order, in segments from north to south. A position holds the modes of
/// all components of a transform: value (position, c) is buffer[position * n_components + c].
///
/// This type describes both ends of the exchange, so nothing is packed or unpacked: the Legendre
/// stage writes rows directly into the send buffer, with segments grouped by the rank that owns the
/// rings (segments that stay local may be in the receive buffer, see OrderPasses); the ring FFT
/// reads rows directly from the receive buffer, with rows grouped by the rank that owns the order.
/// On one rank both layouts are the same and no exchange happens.
class ModeLayout {
 public:
  struct Row {
    int m = 0;
    /// Index of the row to which the modes on `fold_rings` are added (an alias of m, see FoldRule),
    /// or -1.
    std::int64_t fold_into = -1;
    RingRange fold_rings;
    std::int64_t first_segment = 0;
    std::int64_t n_segments = 0;
  };

  /// Rows ascend in m. The builder (distribute/exchange/exchange_plan) appends rows and segments in
  /// order.
  void begin_row(int m);
  void fold_row(std::int64_t into, RingRange rings);
  void add_segment(RingRange rings, std::int64_t first);
  void set_size(std::int64_t positions) { size_ = positions; }

  std::span<const Row> rows() const { return rows_; }
  std::span<const RowSegment> segments(const Row& row) const {
    return std::span(segments_).subspan(static_cast<std::size_t>(row.first_segment),
                                        static_cast<std::size_t>(row.n_segments));
  }
  std::int64_t size() const { return size_; }  ///< positions, padding included

 private:
  std::vector<Row> rows_;
  std::vector<RowSegment> segments_;
  std::int64_t size_ = 0;
};

}  // namespace ringweave::detail::inline sphere
