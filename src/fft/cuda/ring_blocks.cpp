// SPDX-License-Identifier: GPL-3.0-or-later
#include "fft/cuda/ring_blocks.hpp"

#include <algorithm>
#include <complex>
#include <string>
#include <utility>

#include "base/checked_cast.hpp"
#include "fft/cuda/device_ring_plan.hpp"
#include "fft/device_ring_fft.hpp"
#include "fft/ring_modes.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline fft {
namespace {

constexpr std::int64_t mode_bytes = sizeof(std::complex<double>);
constexpr std::int64_t pixel_bytes = sizeof(double);

/// Modes of one order in a block.
struct Piece {
  std::size_t row;
  RingRange rings;
  std::int64_t from;
  std::int64_t to;
};

/// Assigns positions to the pieces in the order of the whole layout.
std::vector<PositionRun> place(std::vector<Piece>& pieces) {
  std::vector<Piece*> in_order;
  for (Piece& piece : pieces) in_order.push_back(&piece);
  std::sort(in_order.begin(), in_order.end(),
            [](const Piece* a, const Piece* b) { return a->from < b->from; });
  std::vector<PositionRun> runs;
  std::int64_t next = 0;
  for (Piece* piece : in_order) {
    piece->to = next;
    if (!runs.empty() && runs.back().from + runs.back().count == piece->from) {
      runs.back().count += piece->rings.size();
    } else {
      runs.push_back({piece->from, next, piece->rings.size()});
    }
    next += piece->rings.size();
  }
  return runs;
}

DeviceRings block_of(const RingFftShape& shape, std::int64_t first, std::int64_t end) {
  std::vector<RingRange> bands;
  for (const RingBand& band : shape.rings.bands()) {
    const RingRange local{index(band.first), index(band.first) + band.rings.size()};
    const RingRange common = intersection(local, {first, end});
    const std::int64_t to_global = band.rings.begin - local.begin;
    if (!common.empty()) bands.push_back({common.begin + to_global, common.end + to_global});
  }
  std::vector<Piece> pieces;
  const auto rows = shape.rows.rows();
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (const RowSegment& segment : shape.rows.segments(rows[row])) {
      for (const RingRange& band : bands) {
        const RingRange common = intersection(segment.rings, band);
        if (common.empty()) continue;
        pieces.push_back({row, common, segment.first + common.begin - segment.rings.begin, 0});
      }
    }
  }
  DeviceRings block{{LocalRings(shape.rings.shared_grid(), bands), {}, shape.n_components},
                    place(pieces),
                    first,
                    first < shape.rings.n_rings() ? shape.rings.first_pixel(LocalRing{first}) : 0};
  auto piece = pieces.begin();
  std::int64_t size = 0;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    block.shape.rows.begin_row(rows[row].m);
    for (; piece != pieces.end() && piece->row == row; ++piece) {
      block.shape.rows.add_segment(piece->rings, piece->to);
      size += piece->rings.size();
    }
  }
  block.shape.rows.set_size(size);
  return block;
}

}  // namespace

std::vector<DeviceRings> cut_rings(const RingFftShape& shape, std::int64_t n_blocks) {
  const std::int64_t n_rings = shape.rings.n_rings();
  const std::vector<ModeCount> modes = modes_of_rings(shape);
  std::vector<std::int64_t> bytes{0};
  for (std::int64_t i = 0; i < n_rings; ++i) {
    bytes.push_back(bytes.back() + modes[to_size(i)].n_present * mode_bytes +
                    shape.rings.ring(LocalRing{i}).n_phi * pixel_bytes);
  }
  std::vector<DeviceRings> blocks;
  std::int64_t first = 0;
  for (std::int64_t b = 1; b <= n_blocks; ++b) {
    const std::int64_t wanted = bytes.back() / n_blocks * b;
    const auto upper = std::upper_bound(bytes.begin(), bytes.end(), wanted);
    const std::int64_t end = b == n_blocks ? n_rings : std::max(first, upper - bytes.begin() - 1);
    if (end > first || n_blocks == 1) blocks.push_back(block_of(shape, first, end));
    first = end;
  }
  return blocks;
}

RingBlocks blocks_that_fit(const RingFftShape& shape, std::int64_t most_bytes) {
  const std::int64_t most_blocks = std::clamp<std::int64_t>(shape.rings.n_rings(), 1, 1024);
  std::int64_t needed = 0;
  for (std::int64_t n = 1; n <= most_blocks; n *= 2) {
    RingBlocks found{cut_rings(shape, n)};
    std::int64_t workspace = 0;
    for (const DeviceRings& block : found.blocks) {
      found.n_modes = std::max(found.n_modes, block.shape.rows.size() * shape.n_components);
      found.n_pixels = std::max(found.n_pixels, component_stride(block) * shape.n_components);
      found.n_rings = std::max(found.n_rings, block.shape.rings.n_rings());
      const gpu::DeviceRingPlan plan(block.shape, ring_fft_workspace_bytes);
      found.bytes.device_bytes += plan.table_bytes();
      workspace = std::max(workspace, plan.workspace_bytes());
    }
    const std::int64_t block_bytes =
        found.n_modes * mode_bytes + (found.n_pixels + found.n_rings) * pixel_bytes;
    found.bytes.pinned_bytes = slots_of(ssize64(found.blocks)) * block_bytes;
    found.bytes.device_bytes += workspace + found.bytes.pinned_bytes;
    needed = found.bytes.device_bytes;
    const bool is_small = block_bytes <= usual_block_bytes || 2 * n > most_blocks;
    if (needed <= most_bytes && is_small) return found;
  }
  throw ResourceError("GPU: a ring FFT in the smallest blocks needs " + std::to_string(needed) +
                      " bytes of the device, " + std::to_string(most_bytes) +
                      " are to be had: use more ranks or smaller batches, or choose the host "
                      "backend");
}

BlockBytes ring_fft_block_bytes(const RingFftShape& shape) {
  return blocks_that_fit(shape, shape.device_bytes).bytes;
}

}  // namespace ringweave::detail::inline fft
