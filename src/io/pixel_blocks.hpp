// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ringweave/files.hpp"
#include "ringweave/grid.hpp"

namespace ringweave::detail::inline io {

/// The largest nside of maps that are read.
constexpr std::int64_t max_nside = RingGrid::most_nside;

/// Converts between a pixel's number in the file's ordering and in RING order.
/// Error  UsageError for NESTED on a grid that is not HEALPix with nside a power of two.
class PixelOrder {
 public:
  PixelOrder(const RingGrid& grid, Ordering ordering);
  ~PixelOrder();
  PixelOrder(PixelOrder&&) noexcept;
  std::int64_t to_ring(std::int64_t file_pixel) const;
  std::int64_t from_ring(std::int64_t ring_pixel) const;

 private:
  struct Nested;
  std::unique_ptr<const Nested> nested_;  ///< null: the file is in RING order
};

/// Consecutive pixels of the full grid in RING order that are consecutive in a rank's memory too.
struct PixelRun {
  std::int64_t first = 0;
  std::int64_t local = 0;
  std::int64_t count = 0;
};

/// Returns how many of the first n_pixels have a component that is not UNSEEN.
template <class T>
std::int64_t count_observed(MapView<const T> map, std::int64_t n_pixels) {
  std::int64_t count = 0;
  for (std::int64_t p = 0; p < n_pixels; ++p) {
    std::int64_t c = 0;
    while (c < map.n_components() && is_unseen(static_cast<double>(map.component(c)[p]))) ++c;
    count += c < map.n_components() ? 1 : 0;
  }
  return count;
}

/// Moves blocks of file rows (row r is pixel r of the full grid in the file's ordering) to and from
/// the pixels this rank owns, which are in RING order. Choose a block with select(), then call
/// take(), give() or mask_unowned() once per column. Not collective. Memory: 24 bytes per row of
/// the block in NESTED order, next to nothing in RING order.
class PixelBlocks {
 public:
  /// `rings` may belong to the full grid or to a subset of it. Error  as PixelOrder.
  PixelBlocks(const LocalRings& rings, Ordering ordering);

  std::int64_t n_rows() const { return n_rows_; }  ///< pixels of the full grid

  /// Selects rows [first_row, first_row + n_rows) as the block.
  void select(std::int64_t first_row, std::int64_t n_rows);
  /// Copies the values of the block's rows that this rank owns into its pixels; leaves other pixels
  /// unchanged.
  template <class T>
  void take(std::span<const double> rows, T* component) const;
  /// Fills the rows of the block that this rank owns and leaves the others unchanged: with zeroed
  /// rows the sum over ranks is the block.
  template <class T>
  void give(std::span<double> rows, const T* component) const;
  /// Sets the rows of the block that this rank does not own to UNSEEN.
  void mask_unowned(std::span<double> rows) const;

  /// Returns this rank's number of a pixel of the full grid in RING order; -1 when it does not own
  /// the pixel.
  std::int64_t local_pixel(std::int64_t ring_pixel) const;
  const PixelOrder& order() const { return order_; }
  /// All pixels this rank owns: ascending in `first` and `local`, in as few runs as possible.
  std::span<const PixelRun> owned() const { return owned_; }

 private:
  std::int64_t n_rows_;
  Ordering ordering_;
  PixelOrder order_;
  std::vector<PixelRun> owned_;
  std::vector<PixelRun> block_;  ///< `first` is a row of the block
};

}  // namespace ringweave::detail::inline io
