// SPDX-License-Identifier: GPL-3.0-or-later
#include "legendre/cuda/plan/stage_memory.hpp"

#include <span>

#include "legendre/cuda/plan/fine_row_plan.hpp"
#include "legendre/cuda/plan/fine_row_sequence.hpp"
#include "legendre/cuda/plan/stage_sequence.hpp"
#include "legendre/shared/fold_groups.hpp"

namespace ringweave::detail::inline legendre {
namespace {

std::int64_t bytes_of_sums(const LegendreShape& shape, const gpu::StageMemory& memory,
                           std::span<const std::int64_t> alm_begin, BatchedSums sums) {
  gpu::CountingMachine machine;
  return gpu::StageSequence<gpu::CountingMachine>(shape, machine, memory, alm_begin, sums).bytes();
}

/// Returns the bytes of a stage in blocks of rows, or of one whose fine rows are cut as these.
std::int64_t bytes_of_fine_rows(const LegendreShape& shape, const gpu::RowBlocks& blocks,
                                const gpu::StageMemory& memory,
                                std::span<const std::int64_t> alm_begin, BatchedSums sums) {
  gpu::CountingMachine machine;
  const gpu::FineRowPlan plan(shape, blocks.all_heads(), memory.theta_bytes);
  return bytes_of_sums(plan.sums, memory, alm_begin, sums) +
         gpu::FineRowSequence<gpu::CountingMachine>(plan, machine).bytes();
}

}  // namespace

std::int64_t device_legendre_bytes(const LegendreShape& shape, BatchedSums sums) {
  FoldGroups{shape};  // throws if the shape is inconsistent
  const gpu::StageMemory memory;
  if (shape.fine_rows == nullptr) return bytes_of_sums(shape, memory, {}, sums);
  return bytes_of_fine_rows(shape, gpu::RowBlocks(shape, usual_block_bytes), memory, {}, sums);
}

BlockBytes legendre_block_bytes(const LegendreShape& shape) {
  FoldGroups{shape};
  const gpu::BlockMemory memory = gpu::memory_in_blocks(shape);
  const gpu::RowBlocks blocks(shape, memory.block_bytes);
  const std::int64_t values = blocks.alm_size() + blocks.n_positions();
  const std::int64_t copied = slots_of(blocks.size()) * values * shape.fields.n_components() *
                              std::int64_t{sizeof(gpu::Double2)};
  LegendreShape packed = shape;
  packed.rows = blocks.layout();
  const std::int64_t stage =
      shape.fine_rows == nullptr
          ? bytes_of_sums(packed, memory.stage, blocks.alm_begin(), usual_sums)
          : bytes_of_fine_rows(packed, blocks, memory.stage, blocks.alm_begin(), usual_sums);
  return {stage + copied, copied};
}

}  // namespace ringweave::detail::inline legendre
