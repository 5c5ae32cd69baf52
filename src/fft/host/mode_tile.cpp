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

void copy(const Complex* from, Complex* to) { std::memcpy(to, from, sizeof(Complex)); }

/// Copy `count` values of `n_orders` neighbouring orders to or from as many rows of the tile, in
/// whole cache lines of a tile row.
void gather_orders(const Complex* modes, const std::int64_t* places, std::int64_t n_orders,
                   std::int64_t count, Complex* tile, std::int64_t stride) {
  if (n_orders == line) {
    const Complex* from[line];
    for (std::int64_t m = 0; m < line; ++m) from[m] = modes + places[m];
    for (std::int64_t i = 0; i < count; ++i) {
      for (std::int64_t m = 0; m < line; ++m) copy(from[m] + i, tile + i * stride + m);
    }
    return;
  }
  for (std::int64_t m = 0; m < n_orders; ++m) {
    for (std::int64_t i = 0; i < count; ++i) copy(modes + places[m] + i, tile + i * stride + m);
  }
}
void scatter_orders(Complex* modes, const std::int64_t* places, std::int64_t n_orders,
                    std::int64_t count, const Complex* tile, std::int64_t stride) {
  if (n_orders == line) {
    Complex* to[line];
    for (std::int64_t m = 0; m < line; ++m) to[m] = modes + places[m];
    for (std::int64_t i = 0; i < count; ++i) {
      for (std::int64_t m = 0; m < line; ++m) copy(tile + i * stride + m, to[m] + i);
    }
    return;
  }
  for (std::int64_t m = 0; m < n_orders; ++m) {
    for (std::int64_t i = 0; i < count; ++i) copy(tile + i * stride + m, modes + places[m] + i);
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

void ModeTile::gather(const ModeLayout& rows, const RingBlock& block, std::int64_t n_modes,
                      const Complex* modes) noexcept {
  std::int64_t first_row = 0;
  for (const RingRange& run : block) {
    const std::int64_t count = run.size() * n_components_;
    locate(rows, run, n_modes, first_row,
           [&](std::int64_t place, std::int64_t tile_row, std::int64_t n, int m) {
             gather_orders(modes, &place, 1, n, values_ + tile_row * stride_ + m, stride_);
           });
    const auto prefetch = [&](std::int64_t place) {
      for (std::int64_t i = 0; i < count; i += line) __builtin_prefetch(modes + place + i);
      __builtin_prefetch(modes + place + count - 1);
    };
    Complex* tile = values_ + first_row * stride_;
    for_each_line(places_.data(), n_modes, prefetch, [&](std::int64_t m, std::int64_t n) {
      gather_orders(modes, places_.data() + m, n, count, tile + m, stride_);
    });
    first_row += count;
  }
}

void ModeTile::scatter(const ModeLayout& rows, const RingBlock& block, std::int64_t n_modes,
                       Complex* modes) noexcept {
  std::int64_t first_row = 0;
  for (const RingRange& run : block) {
    const std::int64_t count = run.size() * n_components_;
    locate(rows, run, n_modes, first_row,
           [&](std::int64_t place, std::int64_t tile_row, std::int64_t n, int m) {
             scatter_orders(modes, &place, 1, n, values_ + tile_row * stride_ + m, stride_);
           });
    const auto prefetch = [&](std::int64_t place) {
      for (std::int64_t i = 0; i < count; i += line) __builtin_prefetch(modes + place + i, 1);
      __builtin_prefetch(modes + place + count - 1, 1);
    };
    const Complex* tile = values_ + first_row * stride_;
    for_each_line(places_.data(), n_modes, prefetch, [&](std::int64_t m, std::int64_t n) {
      scatter_orders(modes, places_.data() + m, n, count, tile + m, stride_);
    });
    first_row += count;
  }
}

}  // namespace ringweave::detail::inline fft
