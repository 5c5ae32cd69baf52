// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/mode_view.hpp"
#include "legendre/cuda/plan/sweep_types.hpp"
#include "legendre/legendre_stage.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::gpu {

/// Partition of a stage's rows into blocks that are processed on a device one after the other.
/// Positions of a_lm and modes are counted from the beginning of the block. Rows are grouped with
/// the row they fold into, so that the rows of any range of heads are contiguous. A block holds
///   alm    [component][alm_size()]
///   modes  [n_positions()][component], those of a row from north to south
/// The partition depends only on the rings of each row, not on where the caller stores its modes.
class RowBlocks {
 public:
  /// Makes blocks of at most `most_bytes`, or of one row with those that fold into it. For fine
  /// rows the modes of its orders on equidistant rings, which the device holds at the same time,
  /// count too.
  RowBlocks(const LegendreShape& shape, std::int64_t most_bytes);

  std::int64_t size() const { return ssize64(ends_) - 1; }
  /// Returns the heads of a block, rows that fold into no other; the rows that fold into them
  /// belong to the block too.
  RowRange heads(std::int64_t block) const {
    return {ends_[to_size(block)], ends_[to_size(block + 1)]};
  }
  std::vector<RowRange> all_heads() const;             ///< [block]
  std::int64_t alm_size() const { return alm_size_; }  ///< of the largest block
  std::int64_t n_positions() const { return layout_.size(); }
  const std::vector<std::int64_t>& alm_begin() const { return alm_begin_; }  ///< [row]
  const ModeLayout& layout() const { return layout_; }
  /// Throws a UsageError unless `rows` has the same orders on the same rings; its positions may
  /// differ.
  void require_same_modes(const ModeLayout& rows) const;

  /// A range within a block: of modes, or of a_lm in each component.
  struct Run {
    std::int64_t begin;
    std::int64_t end;
    std::int64_t size() const { return end - begin; }
  };
  Run alm_of(RowRange heads) const;
  Run modes_of(RowRange heads) const;  ///< positions

  // Copy the rows of these heads, all of one block, between the caller's memory and that of the
  // block. The caller's modes are at the positions of `rows`, which must have passed
  // require_same_modes.
  template <class T>
  void gather(RowRange heads, AlmView<const T> alm, std::complex<T>* block) const;
  template <class T>
  void scatter(RowRange heads, const std::complex<T>* block, AlmView<T> alm) const;
  void gather(RowRange heads, const ModeLayout& rows, ModePieces<const double> modes,
              std::complex<double>* block) const;
  void scatter(RowRange heads, const std::complex<double>* block, const ModeLayout& rows,
               ModePieces<double> modes) const;

 private:
  void cut(const ModeLayout& rows, std::int64_t most_bytes);
  std::int64_t n_degrees(std::int64_t row) const;
  std::int64_t n_beside(std::int64_t row) const;
  /// Returns the range in `sequence_`.
  Run rows_of(RowRange heads) const;
  template <class Copy>
  void for_each_row(RowRange heads, const Copy& copy) const;
  /// Calls copy(position in the block, segment of the caller's layout).
  template <class Copy>
  void for_each_segment(std::int64_t row, const ModeLayout& rows, const Copy& copy) const;

  AlmLayout alm_;
  std::int64_t n_components_;
  std::vector<std::int64_t> sequence_;     ///< rows grouped by head, then ascending
  std::vector<std::int64_t> first_of_;     ///< [row], in sequence_: the first row of a head
  std::vector<std::int64_t> ends_;         ///< heads of block b are [ends_[b], ends_[b + 1])
  std::vector<std::int64_t> alm_begin_;    ///< [row]
  std::vector<std::int64_t> modes_begin_;  ///< [row]
  std::vector<std::int64_t> n_modes_;      ///< [row]
  std::vector<std::int64_t> n_beside_;     ///< [row] modes on equidistant rings; empty: none
  ModeLayout layout_;
  std::int64_t alm_size_ = 0;
};

}  // namespace ringweave::detail::gpu
