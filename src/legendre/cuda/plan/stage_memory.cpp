// SPDX-License-Identifier: GPL-3.0-or-later
#include "legendre/cuda/plan/stage_memory.hpp"

#include "legendre/cuda/plan/stage_sequence.hpp"
#include "legendre/shared/fold_groups.hpp"

namespace ringweave::detail::inline legendre {

std::int64_t device_legendre_bytes(const LegendreShape& shape, BatchedSums sums) {
  FoldGroups{shape};  // throws if the shape is inconsistent
  gpu::CountingMachine machine;
  return gpu::StageSequence<gpu::CountingMachine>(shape, machine, gpu::StageMemory(), {}, sums)
      .bytes();
}

BlockBytes legendre_block_bytes(const LegendreShape& shape) {
  FoldGroups{shape};
  const gpu::BlockMemory memory = gpu::memory_in_blocks(shape.device_bytes);
  const gpu::RowBlocks blocks(shape, memory.block_bytes);
  const std::int64_t values = blocks.alm_size() + blocks.n_positions();
  const std::int64_t copied = slots_of(blocks.size()) * values * shape.fields.n_components() *
                              std::int64_t{sizeof(gpu::Double2)};
  LegendreShape packed = shape;
  packed.rows = blocks.layout();
  gpu::CountingMachine machine;
  const gpu::StageSequence<gpu::CountingMachine> sequence(packed, machine, memory.stage,
                                                          blocks.alm_begin());
  return {sequence.bytes() + copied, copied};
}

}  // namespace ringweave::detail::inline legendre
