// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <optional>

#include "base/block_pipeline.hpp"
#include "legendre/cuda/blocks/row_blocks.hpp"

namespace ringweave::detail::gpu {

/// Buffers of a block of rows.
template <class Device>
struct RowData {
  using Complex = std::complex<double>;

  RowData(std::int64_t n_alm, std::int64_t n_modes)
      : host_alm(n_alm), host_modes(n_modes), alm(n_alm), modes(n_modes) {}
  typename Device::template Pinned<Complex> host_alm;
  typename Device::template Pinned<Complex> host_modes;
  typename Device::template Buffer<Complex> alm;
  typename Device::template Buffer<Complex> modes;

  std::int64_t device_bytes() const { return alm.bytes() + modes.bytes(); }
  std::int64_t pinned_bytes() const { return host_alm.bytes() + host_modes.bytes(); }
};

/// A BlockPipeline of blocks of rows; a block is named by those of its heads that are wanted.
template <class Device>
using RowPipeline = BlockPipeline<Device, RowData<Device>, RowRange>;

template <class Device>
RowPipeline<Device> make_row_pipeline(const RowBlocks& blocks, std::int64_t n_components) {
  return RowPipeline<Device>(blocks.size(), blocks.alm_size() * n_components,
                             blocks.n_positions() * n_components);
}

/// Returns the heads of a block that are wanted; nothing where there are none, or no a_lm.
inline std::optional<RowRange> requested_rows(const RowBlocks& blocks, std::int64_t block,
                                              RowRange wanted) {
  const RowRange all = blocks.heads(block);
  const RowRange heads{std::max(all.begin, wanted.begin), std::min(all.end, wanted.end)};
  if (heads.begin >= heads.end || blocks.alm_of(heads).size() == 0) return std::nullopt;
  return heads;
}

}  // namespace ringweave::detail::gpu
