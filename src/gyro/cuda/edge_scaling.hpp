// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/cuda/arithmetic.hpp"
#include "base/cuda/block_types.hpp"
#include "base/cuda/row_pieces.hpp"
#include "base/host_device.hpp"

namespace ringweave::detail::gpu {

/// The nodes of some rows that are their own mirror image. Plain data.
struct EdgePlan {
  std::int64_t n_x = 0;
  bool x_mirrored = false;
  bool y_mirrored = false;
  std::vector<std::int32_t> mirrors;  ///< [row] 1 for rows that are their own image
};

/// Multiplies the nodes that are their own mirror image.
struct ScaleEdges {
  using Shared = NoShared;
  static constexpr int least_blocks = 8;
  RowPieces pieces;  ///< a row for each plane
  std::int64_t n_x;
  bool x_mirrored;
  const std::int32_t* mirrors;  ///< [row]
  double factor;
  double* planes;

  template <class Block>
  RINGWEAVE_LAUNCH void operator()(const Block& block, Shared&) const {
    pieces.each(block, [&](std::int64_t plane, std::int64_t i) {
      const Quotient at = divide(i, n_x);
      const bool x_edge = x_mirrored && (at.rest == 0 || at.rest == n_x - 1);
      const bool y_edge = mirrors[at.whole] != 0;
      if (!x_edge && !y_edge) return;
      planes[plane * pieces.row_length + i] *= x_edge && y_edge ? factor * factor : factor;
    });
  }
};

/// Multiplies the edges of planes, by a machine as that of SideSequence.
template <class Machine>
class EdgeScaling {
 public:
  EdgeScaling(const EdgePlan& plan, Machine& machine)
      : machine_(&machine),
        n_x_(plan.n_x),
        n_rows_(ssize64(plan.mirrors)),
        x_mirrored_(plan.x_mirrored),
        is_needed_(plan.x_mirrored || plan.y_mirrored),
        mirrors_(machine.upload(plan.mirrors)) {}

  /// planes  [plane][row][x]
  void scale(double* planes, std::int64_t n_planes, double factor) {
    if (!is_needed_) return;
    const RowPieces pieces{n_planes, n_rows_ * n_x_};
    machine_->launch(ScaleEdges{pieces, n_x_, x_mirrored_, mirrors_.data(), factor, planes},
                     pieces.n_blocks());
  }

 private:
  Machine* machine_;
  std::int64_t n_x_;
  std::int64_t n_rows_;
  bool x_mirrored_;
  bool is_needed_;
  typename Machine::template Buffer<std::int32_t> mirrors_;
};

}  // namespace ringweave::detail::gpu
