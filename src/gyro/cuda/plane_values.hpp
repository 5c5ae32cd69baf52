// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <limits>

#include "base/cuda/arithmetic.hpp"
#include "base/cuda/block_types.hpp"
#include "base/cuda/row_pieces.hpp"
#include "base/host_device.hpp"

namespace ringweave::detail::gpu {

/// Converts planes.
template <class From, class To>
struct ConvertPlanes {
  using Shared = NoShared;
  static constexpr int least_blocks = 8;
  RowPieces pieces;  ///< a row for each plane
  const From* from;
  std::int64_t from_stride;
  To* to;
  std::int64_t to_stride;

  template <class Block>
  RINGWEAVE_LAUNCH void operator()(const Block& block, Shared&) const {
    pieces.each(block, [&](std::int64_t plane, std::int64_t i) {
      to[plane * to_stride + i] = static_cast<To>(from[plane * from_stride + i]);
    });
  }
};

/// What one thread found in a plane.
struct PartOfFindings {
  std::int64_t n_not_finite;
  std::int64_t first_not_finite;
  double largest;
  double largest_at_edge;
};

/// Looks for values that are not finite, and for the largest. Each of n threads takes every n-th
/// value.
template <class T>
struct InspectPlane {
  using Shared = NoShared;
  static constexpr int least_blocks = 8;
  static constexpr double largest_double = std::numeric_limits<double>::max();
  std::int64_t size;
  std::int64_t n_x;
  bool x_ends;
  bool y_ends;
  const T* plane;
  std::int64_t n_threads;  ///< of all blocks
  PartOfFindings* parts;   ///< [thread]

  template <class Block>
  RINGWEAVE_LAUNCH void operator()(const Block& block, Shared&) const {
    block.each([&](int thread) {
      const std::int64_t part = block.index() * block_threads + thread;
      PartOfFindings found{0, size, 0, 0};
      for (std::int64_t i = part; i < size; i += n_threads) add(i, found);
      parts[part] = found;
    });
  }

 private:
  RINGWEAVE_HOST_DEVICE void add(std::int64_t i, PartOfFindings& found) const {
    const double value = static_cast<double>(plane[i]);
    const double magnitude = value < 0 ? -value : value;
    if (!(magnitude <= largest_double)) {
      ++found.n_not_finite;
      if (i < found.first_not_finite) found.first_not_finite = i;
      return;
    }
    if (magnitude > found.largest) found.largest = magnitude;
    const Quotient at = divide(i, n_x);
    const bool at_x_end = x_ends && (at.rest == 0 || at.rest == n_x - 1);
    const bool at_y_end = y_ends && (i < n_x || i >= size - n_x);
    if ((at_x_end || at_y_end) && magnitude > found.largest_at_edge)
      found.largest_at_edge = magnitude;
  }
};

}  // namespace ringweave::detail::gpu
