// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/view.hpp"
#include "legendre/cuda/plan/sweep_types.hpp"
#include "legendre/legendre_stage.hpp"

namespace ringweave::gpu {

/// The rows of a stage in blocks that go through a device one after the other: places of a_lm and
/// modes are counted from the beginning of a block, rows in the order of those they fold into, so
/// that some of a block's rows lie in one run. What a block holds is
///   alm    [component][alm_size()]
///   modes  [n_positions()][component], those of a row from north to south
/// It follows from the rings of each row alone: wherever a user has the modes, the blocks are the
/// same.
class RowBlocks {
 public:
  /// Of a block: rows enough to fill a device where an order of the largest transforms (lmax 32768)
  /// takes 1.5 MB, blocks enough for copies beside the work where all take 500 MB (nside 2048).
  static constexpr std::int64_t usual_bytes = std::int64_t{128} << 20;

  /// Blocks hold at most `most_bytes`, or one row with those that fold into it.
  RowBlocks(const LegendreShape& shape, std::int64_t most_bytes);

  std::int64_t size() const { return ssize64(ends_) - 1; }
  /// The rows that fold into no other, and with them those that do.
  RowRange heads(std::int64_t block) const {
    return {ends_[to_size(block)], ends_[to_size(block + 1)]};
  }
  std::int64_t alm_size() const { return alm_size_; }  ///< of the largest block
  std::int64_t n_positions() const { return layout_.size(); }
  const std::vector<std::int64_t>& alm_begin() const { return alm_begin_; }  ///< [row]
  const ModeLayout& layout() const { return layout_; }
  /// Error  UsageError unless these are the same orders on the same rings, wherever their modes
  /// lie.
  void require_same_modes(const ModeLayout& rows) const;

  /// Places in a block; of a_lm in each component.
  struct Run {
    std::int64_t begin;
    std::int64_t end;
    std::int64_t size() const { return end - begin; }
  };
  Run alm_of(RowRange heads) const;
  Run modes_of(RowRange heads) const;  ///< positions

  // Rows whose heads are given, all of one block, between a user's memory and a block's; a user's
  // modes lie where `rows` says, which have passed require_same_modes.
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
  /// In `sequence_`.
  Run rows_of(RowRange heads) const;
  template <class Copy>
  void for_each_row(RowRange heads, const Copy& copy) const;
  /// Calls copy(position in the block, segment of the user's).
  template <class Copy>
  void for_each_segment(std::int64_t row, const ModeLayout& rows, const Copy& copy) const;

  AlmLayout alm_;
  std::int64_t n_components_;
  std::vector<std::int64_t> sequence_;     ///< rows by their heads, then ascending
  std::vector<std::int64_t> first_of_;     ///< [row], in sequence_: of the rows of a head
  std::vector<std::int64_t> ends_;         ///< heads of block b are [ends_[b], ends_[b + 1])
  std::vector<std::int64_t> alm_begin_;    ///< [row]
  std::vector<std::int64_t> modes_begin_;  ///< [row]
  std::vector<std::int64_t> n_modes_;      ///< [row]
  ModeLayout layout_;
  std::int64_t alm_size_ = 0;
};

}  // namespace ringweave::gpu
