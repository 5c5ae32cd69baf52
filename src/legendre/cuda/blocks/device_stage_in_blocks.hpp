// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include "legendre/cuda/blocks/row_blocks.hpp"
#include "legendre/device_legendre_stage.hpp"

namespace ringweave::gpu {

/// Makes a stage for the a_lm and modes of one block at a time: each call is for rows of one block,
/// at the positions RowBlocks assigns. Error  as make_device_legendre_stage.
std::unique_ptr<DeviceLegendreStage> make_device_stage_in_blocks(const LegendreShape& shape,
                                                                 const RowBlocks& blocks,
                                                                 const DeviceStream& stream);

}  // namespace ringweave::gpu
