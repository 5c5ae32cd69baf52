// SPDX-License-Identifier: GPL-3.0-or-later
#include <memory>

#include "legendre/cuda/blocks/row_blocks.hpp"
#include "legendre/cuda/plan/stage_memory.hpp"
#include "legendre/device_legendre_stage.hpp"
#include "legendre/shared/fold_groups.hpp"

namespace ringweave::detail {

inline namespace legendre {

std::unique_ptr<DeviceLegendreStage> make_device_legendre_stage(LegendreShape shape,
                                                                const DeviceStream& stream,
                                                                BatchedSums sums) {
  FoldGroups{shape};  // throws if the shape is inconsistent
  const gpu::StageMemory memory;
  const gpu::AlmPlaces alm{shape.alm.size(), {}};
  if (shape.fine_rows == nullptr) return gpu::make_device_sums(shape, memory, alm, stream, sums);
  const gpu::RowBlocks blocks(shape, usual_block_bytes);
  return gpu::make_device_fine_rows(shape, blocks.all_heads(), memory, alm, stream, sums);
}

}  // namespace legendre

namespace gpu {

std::unique_ptr<DeviceLegendreStage> make_device_stage_in_blocks(const LegendreShape& shape,
                                                                 const RowBlocks& blocks,
                                                                 const DeviceStream& stream) {
  LegendreShape packed = shape;
  packed.rows = blocks.layout();
  const StageMemory memory = memory_in_blocks(shape).stage;
  const AlmPlaces alm{blocks.alm_size(), blocks.alm_begin()};
  return shape.fine_rows == nullptr
             ? make_device_sums(packed, memory, alm, stream, usual_sums)
             : make_device_fine_rows(packed, blocks.all_heads(), memory, alm, stream, usual_sums);
}

}  // namespace gpu
}  // namespace ringweave::detail
