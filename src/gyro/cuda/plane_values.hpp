// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "base/cuda/block_types.hpp"
#include "base/cuda/row_pieces.hpp"
#include "base/host_device.hpp"
#include "gyro/device_plane_values.hpp"

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

/// The findings of one thread in a plane.
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
  PlaneEdge edge;
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
    if (magnitude > found.largest_at_edge && is_at_edge(i)) found.largest_at_edge = magnitude;
  }
  RINGWEAVE_HOST_DEVICE bool is_at_edge(std::int64_t i) const {
    if (edge.y_ends && (i < edge.n_x || i >= size - edge.n_x)) return true;
    if (!edge.x_ends) return false;
    const std::int64_t x = i % edge.n_x;
    return x == 0 || x == edge.n_x - 1;
  }
};

/// Inspects planes, by a machine as that of SideSequence.
template <class Machine>
class PlaneInspection {
 public:
  static constexpr std::int64_t most_parts = std::int64_t{32} * block_threads;  // not measured

  explicit PlaneInspection(Machine& machine)
      : machine_(&machine), parts_(machine.template allocate<PartOfFindings>(most_parts)) {}

  /// Begins to inspect a plane and returns how many parts there will be.
  template <class T>
  std::int64_t begin(const T* plane, std::int64_t size, const PlaneEdge& edge) {
    const std::int64_t n_blocks =
        std::min(most_parts / block_threads, RowPieces{1, size}.n_blocks());
    const std::int64_t n_threads = n_blocks * block_threads;
    machine_->launch(InspectPlane<T>{size, edge, plane, n_threads, parts_.data()}, n_blocks);
    return n_threads;
  }
  const PartOfFindings* parts() const { return parts_.data(); }  ///< in the machine's memory

 private:
  Machine* machine_;
  typename Machine::template Buffer<PartOfFindings> parts_;
};

/// Returns the findings of all threads together.
inline PlaneFindings together(const PartOfFindings* parts, std::int64_t n_parts,
                              std::int64_t size) {
  PlaneFindings findings;
  findings.first_not_finite = size;
  for (std::int64_t i = 0; i < n_parts; ++i) {
    const PartOfFindings& part = parts[i];
    findings.n_not_finite += part.n_not_finite;
    findings.first_not_finite = std::min(findings.first_not_finite, part.first_not_finite);
    findings.largest = std::max(findings.largest, part.largest);
    findings.largest_at_edge = std::max(findings.largest_at_edge, part.largest_at_edge);
  }
  return findings;
}

}  // namespace ringweave::detail::gpu
