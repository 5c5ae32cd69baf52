// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/cuda/clear_values.hpp"
#include "base/cuda/for_groups.hpp"
#include "gyro/chebyshev_blocks.hpp"
#include "gyro/chebyshev_operator.hpp"
#include "gyro/cuda/chebyshev_launches.hpp"
#include "gyro/host/chebyshev_kernels.hpp"

namespace ringweave::detail::gpu {

/// Tables of a fold for a device. Plain data.
struct ChebyshevPlan {
  static constexpr std::int64_t most_elements = 512;  ///< of a part
  ChebyshevPlan(const ChebyshevFold& fold, const ChunkRange& chunks);

  std::vector<FoldedElement> elements;
  std::vector<FoldedSegment> segments;
  std::vector<FoldedSegment> parts;  ///< of the segments, in their order
  std::vector<OutputParts> outputs;
  std::vector<std::int64_t> chunk_groups;  ///< [own chunk] its first group, and the end
  FoldedPlanes layout{};
  std::int64_t n_groups = 0;  ///< of targets of this rank
  std::int64_t n_chunks = 0;  ///< of all ranks
  std::int64_t first_chunk = 0;
  std::int64_t degrees_x = 0;
  std::int64_t degrees_y = 0;
  std::int64_t matrix_row = 0;

  std::int64_t matrix_size() const { return degrees_y * matrix_row; }
  std::int64_t own_chunks() const { return ssize64(chunk_groups) - 1; }
  /// Returns the numbers of the sums of all parts, of `planes` planes.
  std::int64_t sums_size(std::int64_t planes) const {
    return n_groups * ssize64(parts) * 2 * planes * targets_of_group;
  }
};

/// Launches that make and apply operators of method chebyshev. Machine runs them: a device, or its
/// emulation on the host, with the interface that StageSequence needs.
template <class Machine>
class ChebyshevSequence {
 public:
  template <class T>
  using Buffer = typename Machine::template Buffer<T>;

  static constexpr int planes_together = 8;

  ChebyshevSequence(const ChebyshevPlan& plan, Machine& machine)
      : machine_(&machine),
        plan_(plan),
        elements_(machine.upload(plan.elements)),
        parts_(machine.upload(plan.parts)),
        outputs_(machine.upload(plan.outputs)),
        chunk_groups_(machine.upload(plan.chunk_groups)) {}

  /// Memory of launches that make rows.
  struct BuildTask {
    Buffer<std::int64_t> begin;
    Buffer<CircleNode> nodes;
    Buffer<double> matrices;
  };

  /// Makes the rows of the targets of all groups, [group][element][target]. The result must be
  /// kept until they are made.
  /// most_bytes  of the matrices that are folded at once, for one group at least
  BuildTask make_rows(const TargetNodes& targets, std::int64_t most_bytes, double* rows) {
    const std::int64_t n_targets = ssize64(targets.begin) - 1;
    const std::int64_t of_group = plan_.matrix_size() * targets_of_group;
    const std::int64_t together = std::clamp<std::int64_t>(
        most_bytes / (of_group * std::int64_t{sizeof(double)}), 1, plan_.n_groups);
    BuildTask task{machine_->upload(targets.begin), machine_->upload(targets.nodes),
                   machine_->template allocate<double>(together * of_group)};
    double* const matrices = task.matrices.data();
    for (std::int64_t group = 0; group < plan_.n_groups; group += together) {
      const std::int64_t n_groups = std::min(together, plan_.n_groups - group);
      const std::int64_t first = group * targets_of_group;
      const std::int64_t count = std::min(n_groups * targets_of_group, n_targets - first);
      const SumCircle sum{plan_.degrees_x,           plan_.degrees_y,   plan_.matrix_row,
                          task.begin.data() + first, task.nodes.data(), matrices,
                          plan_.matrix_size()};
      machine_->launch(sum, sum.n_blocks(count));
      const RowPieces pieces{n_groups, plan_.layout.row_size * targets_of_group};
      machine_->launch(FoldRows{pieces, elements_.data(), matrices, plan_.matrix_size(), count,
                                rows + group * plan_.layout.row_size * targets_of_group},
                       pieces.n_blocks());
    }
    return task;
  }

  /// Writes zeros.
  void clear(double* values, std::int64_t n) {
    const RowPieces pieces{1, n};
    machine_->launch(ClearValues{pieces, 0, values}, pieces.n_blocks());
  }

  /// Adds weight times rows times columns.
  /// sums  scratch of plan.sums_size(planes_together)
  void average(const double* rows, double weight, std::int64_t n_planes, const double* columns,
               double* values, double* sums) {
    if (plan_.n_groups == 0) return;
    for_groups<planes_together, 2, 1>(0, n_planes, [&](auto count, std::int64_t plane) {
      constexpr int planes = decltype(count)::value;
      const std::int64_t n_parts = ssize64(plan_.parts);
      machine_->launch(SumElements<planes>{parts_.data(), n_parts, plan_.layout, rows,
                                           columns + plan_.layout.column(plane), sums},
                       plan_.n_groups * n_parts);
      const RowPieces pieces{planes * plan_.layout.n_outputs, plan_.n_groups * targets_of_group};
      machine_->launch(AddParts<planes>{pieces, outputs_.data(), n_parts, plan_.layout, weight,
                                        sums, values + plan_.layout.value(plane, 0)},
                       pieces.n_blocks());
    });
  }

  /// Adds weight times the transpose, to the own chunks of all.
  void transpose(const double* rows, double weight, std::int64_t n_planes, const double* values,
                 double* columns) {
    const std::int64_t stride = n_planes * plan_.layout.row_size;
    for_groups<planes_together, 2, 1>(0, n_planes, [&](auto count, std::int64_t plane) {
      constexpr int planes = decltype(count)::value;
      // One after the other: two segments may have the same columns.
      for (const FoldedSegment& segment : plan_.segments) {
        const SpreadSegment<planes> launch{
            segment,
            plan_.layout,
            chunk_groups_.data(),
            weight,
            rows,
            values + plan_.layout.value(plane, 0),
            columns + plan_.first_chunk * stride + plan_.layout.column(plane),
            stride};
        machine_->launch(launch, plan_.own_chunks() * launch.pieces());
      }
    });
  }

 private:
  Machine* machine_;
  ChebyshevPlan plan_;
  Buffer<FoldedElement> elements_;
  Buffer<FoldedSegment> parts_;
  Buffer<OutputParts> outputs_;
  Buffer<std::int64_t> chunk_groups_;
};

}  // namespace ringweave::detail::gpu
