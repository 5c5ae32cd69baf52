// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/checked_cast.hpp"
#include "fft/ring_fft.hpp"
#include "nonuniform/fine_grid.hpp"
#include "ringweave/grid.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline nonuniform {

/// The fine rows around some points in the memory of one thread, which goes from the north to the
/// south. Rows of this rank are in memory as on the sphere, one directly after the other.
class RowWindow {
 public:
  /// rings      [fine row] its ring, -1: it does not exist here; must outlive the window
  /// most_rows  that the points of a tile may touch
  RowWindow(const FineGrid& grid, std::span<const std::int64_t> rings, std::int64_t n_components,
            std::int64_t most_rows);

  /// Returns the doubles of a window.
  static std::int64_t size_of(const FineGrid& grid, std::int64_t n_components,
                              std::int64_t most_rows) {
    return n_components * places_for(most_rows) * grid.n_columns;
  }

  /// Begins again before this row, with no rows.
  void clear(std::int64_t row) noexcept;
  /// Forgets the rows north of this one.
  void drop_before(std::int64_t row) noexcept;
  /// Takes in the rows up to `end`, and calls fill(ring range, their memory) for those of this
  /// rank. Afterwards there must not be more rows than the points of a tile may touch.
  template <class Fill>
  void extend(std::int64_t end, const Fill& fill) noexcept {
    const RingRange fresh{rows_.end, end};
    place(fresh);
    for_each_run(fresh, fill);
  }
  /// Calls use(ring range, their memory) for the rows of this rank in the window north of `end`.
  template <class Use>
  void for_each_run_before(std::int64_t end, const Use& use) noexcept {
    for_each_run({rows_.begin, std::min(end, rows_.end)}, use);
  }

  double* values() { return values_.data(); }
  std::int64_t row_size() const { return n_columns_; }
  std::int64_t component_stride() const { return n_places_ * n_columns_; }
  /// [fine row] where its values of a component begin; -1: it is not in the window
  std::span<const std::int64_t> first_value() const { return first_value_; }
  std::int64_t bytes() const { return held_bytes(values_, first_value_); }

 private:
  static std::int64_t places_for(std::int64_t most_rows);
  std::int64_t ring_of(std::int64_t row) const { return rings_[to_size(row)]; }
  void place(RingRange fresh) noexcept;
  void move_to_front() noexcept;

  /// Calls use() for the rows of this rank in a range, run by run of neighbouring rings.
  template <class Use>
  void for_each_run(RingRange rows, const Use& use) noexcept {
    std::array<double*, 32> memory;
    for (std::int64_t row = rows.begin; row < rows.end;) {
      const std::int64_t first = ring_of(row);
      std::size_t n = 0;
      for (; row < rows.end && n < memory.size() && ring_of(row) >= 0 &&
             ring_of(row) == first + static_cast<std::int64_t>(n);
           ++row)
        memory[n++] = values_.data() + first_value_[to_size(row)];
      if (n == 0) {
        ++row;
        continue;
      }
      use(RingRange{first, first + static_cast<std::int64_t>(n)},
          RunPixels{std::span<double* const>(memory.data(), n), component_stride()});
    }
  }

  std::span<const std::int64_t> rings_;
  std::int64_t n_columns_;
  std::int64_t n_components_;
  std::int64_t n_places_;     ///< for rows
  std::int64_t n_used_ = 0;   ///< places of rows here or forgotten; the next rows come after them
  std::int64_t n_owned_ = 0;  ///< rows of this rank in the window, in the last of these places
  RingRange rows_{0, 0};
  std::vector<std::int64_t> first_value_;
  HostBuffer<double> values_;  ///< [component][place][column]
};

}  // namespace ringweave::detail::inline nonuniform
