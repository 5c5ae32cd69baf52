// SPDX-License-Identifier: GPL-3.0-or-later
#include "fft/host/mode_tile.hpp"

namespace ringweave {
namespace {

/// Elements from one row of the tile to the next: whole cache lines, an odd number of them, so that
/// the same order of neighbouring rings does not fall into one set of the cache.
std::int64_t row_stride(std::int64_t n_modes) {
  constexpr std::int64_t line = 4;
  return ((n_modes + line - 1) / line | 1) * line;
}

/// Calls move(position of the run's first mode, first tile row, number of values, m) for every run
/// of the block.
template <class Move>
void for_each_run(const ModeLayout& rows, const RingBlock& block, std::int64_t n_components,
                  const Move& move) {
  for (const ModeLayout::Row& row : rows.rows()) {
    for (const RowSegment& segment : rows.segments(row)) {
      std::int64_t first_ring = 0;
      for (const RingRange& run : block) {
        const RingRange common = intersection(segment.rings, run);
        if (!common.empty()) {
          move((segment.first + common.begin - segment.rings.begin) * n_components,
               (first_ring + common.begin - run.begin) * n_components, common.size() * n_components,
               row.m);
        }
        first_ring += run.size();
      }
    }
  }
}

}  // namespace

ModeTile::ModeTile(std::int64_t n_rings, std::int64_t n_components, std::int64_t n_modes)
    : n_components_(n_components),
      stride_(row_stride(n_modes)),
      values_(n_rings * n_components * stride_) {}

std::int64_t ModeTile::bytes_per_ring(std::int64_t n_components, std::int64_t n_modes) {
  return n_components * row_stride(n_modes) *
         static_cast<std::int64_t>(sizeof(std::complex<double>));
}

void ModeTile::gather(const ModeLayout& rows, const RingBlock& block,
                      const std::complex<double>* modes) noexcept {
  for_each_run(rows, block, n_components_,
               [&](std::int64_t first, std::int64_t tile_row, std::int64_t count, int m) {
                 const std::complex<double>* from = modes + first;
                 std::complex<double>* to = values_.data() + tile_row * stride_ + m;
                 for (std::int64_t i = 0; i < count; ++i) to[i * stride_] = from[i];
               });
}

void ModeTile::scatter(const ModeLayout& rows, const RingBlock& block,
                       std::complex<double>* modes) const noexcept {
  for_each_run(rows, block, n_components_,
               [&](std::int64_t first, std::int64_t tile_row, std::int64_t count, int m) {
                 const std::complex<double>* from = values_.data() + tile_row * stride_ + m;
                 std::complex<double>* to = modes + first;
                 for (std::int64_t i = 0; i < count; ++i) to[i] = from[i * stride_];
               });
}

}  // namespace ringweave
