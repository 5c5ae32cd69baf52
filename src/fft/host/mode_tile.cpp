// SPDX-License-Identifier: GPL-3.0-or-later
#include "fft/host/mode_tile.hpp"

#include <algorithm>
#include <cstring>

namespace ringweave::detail::inline fft {
namespace {

using Complex = std::complex<double>;

constexpr std::int64_t line = 4;  // elements per cache line

// Prefetch distance: rows are further apart than the hardware prefetcher follows; far enough ahead
// to cover main-memory latency.
constexpr std::int64_t orders_ahead = 24;

/// Returns the distance between rows of the tile: an odd number of cache lines, so that the same
/// order of neighbouring rings is not in the same cache set.
std::int64_t row_stride(std::int64_t n_modes) { return ((n_modes + line - 1) / line | 1) * line; }

/// The two directions between a mode and its element of the tile.
struct Gather {
  using Mode = const Complex;
  static constexpr int writes_modes = 0;
  static void move(const Complex* mode, Complex* tile) { std::memcpy(tile, mode, sizeof(Complex)); }
};
struct Scatter {
  using Mode = Complex;
  static constexpr int writes_modes = 1;
  static void move(Complex* mode, const Complex* tile) { std::memcpy(mode, tile, sizeof(Complex)); }
};

/// Moves `count` values of `n_orders` neighbouring orders to or from as many rows of the tile, in
/// whole cache lines of a tile row.
template <class Way>
void move_orders(typename Way::Mode* modes, const std::int64_t* places, std::int64_t n_orders,
                 std::int64_t count, Complex* tile, std::int64_t stride) {
  if (n_orders == line) {
    typename Way::Mode* order[line];
    for (std::int64_t m = 0; m < line; ++m) order[m] = modes + places[m];
    for (std::int64_t i = 0; i < count; ++i) {
      for (std::int64_t m = 0; m < line; ++m) Way::move(order[m] + i, tile + i * stride + m);
    }
    return;
  }
  for (std::int64_t m = 0; m < n_orders; ++m) {
    for (std::int64_t i = 0; i < count; ++i)
      Way::move(modes + places[m] + i, tile + i * stride + m);
  }
}

/// Calls move(m, number of orders) for the orders with a position, a whole cache line of a tile row
/// at a time where possible.
template <class Prefetch, class Move>
void for_each_line(const std::int64_t* places, std::int64_t n_modes, const Prefetch& prefetch,
                   const Move& move) {
  for (std::int64_t m = 0; m < n_modes; m += line) {
    const std::int64_t end = std::min(m + line, n_modes);
    for (std::int64_t i = m + orders_ahead; i < std::min(end + orders_ahead, n_modes); ++i) {
      if (places[i] >= 0) prefetch(places[i]);
    }
    if (std::all_of(places + m, places + end, [](std::int64_t place) { return place >= 0; })) {
      move(m, end - m);
      continue;
    }
    for (std::int64_t i = m; i < end; ++i) {
      if (places[i] >= 0) move(i, std::int64_t{1});
    }
  }
}

}  // namespace

ModeTile::ModeTile(std::int64_t n_rings, std::int64_t n_components, std::int64_t n_modes)
    : n_components_(n_components),
      stride_(row_stride(n_modes)),
      size_(n_rings * n_components * stride_),
      places_(n_modes) {}

std::int64_t ModeTile::bytes_per_ring(std::int64_t n_components, std::int64_t n_modes) {
  return n_components * row_stride(n_modes) * static_cast<std::int64_t>(sizeof(Complex));
}

template <class Part>
void ModeTile::locate(const ModeLayout& rows, const RingRange& run, std::int64_t n_modes,
                      std::int64_t first_row, const Part& part) noexcept {
  std::fill_n(places_.data(), n_modes, -1);
  for (const ModeLayout::Row& row : rows.rows()) {
    if (row.m >= n_modes) break;
    for (const RowSegment& segment : rows.segments(row)) {
      const RingRange common = intersection(segment.rings, run);
      if (common.empty()) continue;
      const std::int64_t place =
          (segment.first + common.begin - segment.rings.begin) * n_components_;
      if (common.size() == run.size()) {
        places_[row.m] = place;
      } else {
        part(place, first_row + (common.begin - run.begin) * n_components_,
             common.size() * n_components_, row.m);
      }
    }
  }
}

template <class Way, class Mode>
void ModeTile::move(const ModeLayout& rows, const RingBlock& block, std::int64_t n_modes,
                    Mode* modes) noexcept {
  std::int64_t first_row = 0;
  for (const RingRange& run : block) {
    const std::int64_t count = run.size() * n_components_;
    locate(rows, run, n_modes, first_row,
           [&](std::int64_t place, std::int64_t tile_row, std::int64_t n, int m) {
             move_orders<Way>(modes, &place, 1, n, values_ + tile_row * stride_ + m, stride_);
           });
    const auto prefetch = [&](std::int64_t place) {
      for (std::int64_t i = 0; i < count; i += line)
        __builtin_prefetch(modes + place + i, Way::writes_modes);
      __builtin_prefetch(modes + place + count - 1, Way::writes_modes);
    };
    Complex* tile = values_ + first_row * stride_;
    for_each_line(places_.data(), n_modes, prefetch, [&](std::int64_t m, std::int64_t n) {
      move_orders<Way>(modes, places_.data() + m, n, count, tile + m, stride_);
    });
    first_row += count;
  }
}

void ModeTile::gather(const ModeLayout& rows, const RingBlock& block, std::int64_t n_modes,
                      const Complex* modes) noexcept {
  move<Gather>(rows, block, n_modes, modes);
}

void ModeTile::scatter(const ModeLayout& rows, const RingBlock& block, std::int64_t n_modes,
                       Complex* modes) noexcept {
  move<Scatter>(rows, block, n_modes, modes);
}

}  // namespace ringweave::detail::inline fft
