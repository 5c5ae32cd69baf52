// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/pixel_blocks.hpp"

#include <fmt/format.h>
#include <healpix_base.h>

#include <algorithm>

#include "base/checked_cast.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline io {

struct PixelOrder::Nested {
  T_Healpix_Base<std::int64_t> base;
};

PixelOrder::PixelOrder(const RingGrid& grid, Ordering ordering) {
  if (ordering == Ordering::ring) return;
  const std::int64_t nside = grid.nside();
  if (nside < 1 || (nside & (nside - 1)) != 0) {
    throw UsageError(fmt::format(
        "NESTED order needs a HEALPix grid with nside a power of two; this one is {}: use RING",
        grid.name()));
  }
  nested_ = std::make_unique<const Nested>(
      Nested{T_Healpix_Base<std::int64_t>(nside, ::RING, SET_NSIDE)});
}
PixelOrder::~PixelOrder() = default;
PixelOrder::PixelOrder(PixelOrder&&) noexcept = default;

std::int64_t PixelOrder::to_ring(std::int64_t file_pixel) const {
  return nested_ ? nested_->base.nest2ring(file_pixel) : file_pixel;
}

std::int64_t PixelOrder::from_ring(std::int64_t ring_pixel) const {
  return nested_ ? nested_->base.ring2nest(ring_pixel) : ring_pixel;
}

PixelBlocks::PixelBlocks(const LocalRings& rings, Ordering ordering)
    : n_rows_(rings.grid().n_source_pixels()), ordering_(ordering), order_(rings.grid(), ordering) {
  for (std::int64_t r = 0; r < rings.n_rings(); ++r) {
    const Ring& ring = rings.ring(LocalRing{r});
    const PixelRun run{ring.source_pixel, rings.first_pixel(LocalRing{r}), ring.n_phi};
    if (!owned_.empty() && owned_.back().first + owned_.back().count == run.first) {
      owned_.back().count += run.count;
    } else {
      owned_.push_back(run);
    }
  }
}

std::int64_t PixelBlocks::local_pixel(std::int64_t ring_pixel) const {
  const auto after =
      std::upper_bound(owned_.begin(), owned_.end(), ring_pixel,
                       [](std::int64_t pixel, const PixelRun& run) { return pixel < run.first; });
  if (after == owned_.begin()) return -1;
  const PixelRun& run = *(after - 1);
  return ring_pixel < run.first + run.count ? run.local + (ring_pixel - run.first) : -1;
}

void PixelBlocks::select(std::int64_t first_row, std::int64_t n_rows) {
  block_.clear();
  if (ordering_ == Ordering::nested) {
    for (std::int64_t row = 0; row < n_rows; ++row) {
      const std::int64_t local = local_pixel(order_.to_ring(first_row + row));
      if (local >= 0) block_.push_back({row, local, 1});
    }
    return;
  }
  const auto begin = std::partition_point(owned_.begin(), owned_.end(), [&](const PixelRun& run) {
    return run.first + run.count <= first_row;
  });
  for (auto run = begin; run != owned_.end() && run->first < first_row + n_rows; ++run) {
    const std::int64_t from = std::max(run->first, first_row);
    const std::int64_t to = std::min(run->first + run->count, first_row + n_rows);
    block_.push_back({from - first_row, run->local + (from - run->first), to - from});
  }
}

template <class T>
void PixelBlocks::take(std::span<const double> rows, T* component) const {
  for (const PixelRun& run : block_) {
    for (std::int64_t i = 0; i < run.count; ++i) {
      component[run.local + i] = static_cast<T>(rows[to_size(run.first + i)]);
    }
  }
}

template <class T>
void PixelBlocks::give(std::span<double> rows, const T* component) const {
  for (const PixelRun& run : block_) {
    for (std::int64_t i = 0; i < run.count; ++i) {
      rows[to_size(run.first + i)] = static_cast<double>(component[run.local + i]);
    }
  }
}

void PixelBlocks::mask_unowned(std::span<double> rows) const {
  auto from = rows.begin();
  for (const PixelRun& run : block_) {
    std::fill(from, rows.begin() + run.first, unseen);
    from = rows.begin() + run.first + run.count;
  }
  std::fill(from, rows.end(), unseen);
}

template void PixelBlocks::take(std::span<const double>, double*) const;
template void PixelBlocks::take(std::span<const double>, float*) const;
template void PixelBlocks::give(std::span<double>, const double*) const;
template void PixelBlocks::give(std::span<double>, const float*) const;

}  // namespace ringweave::detail::inline io
