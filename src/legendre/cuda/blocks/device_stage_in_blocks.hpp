// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include "legendre/cuda/blocks/row_blocks.hpp"
#include "legendre/device_legendre_stage.hpp"

namespace ringweave::gpu {

/// A stage whose a_lm and modes are those of one block at a time: a call is for rows of one block,
/// with the places RowBlocks gives them. Error  as make_device_legendre_stage.
std::unique_ptr<DeviceLegendreStage> make_device_stage_in_blocks(const LegendreShape& shape,
                                                                 const RowBlocks& blocks,
                                                                 const DeviceStream& stream);

}  // namespace ringweave::gpu
