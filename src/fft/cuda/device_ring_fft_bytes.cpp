// SPDX-License-Identifier: GPL-3.0-or-later
#include "fft/cuda/device_ring_plan.hpp"
#include "fft/cuda/ring_blocks.hpp"
#include "fft/device_ring_fft.hpp"

namespace ringweave {

std::int64_t device_ring_fft_bytes(const RingFftShape& shape, std::int64_t workspace_bytes) {
  const gpu::DeviceRingPlan plan(shape, workspace_bytes);
  return plan.table_bytes() + 2 * plan.workspace_values * std::int64_t{sizeof(gpu::Double2)};
}

}  // namespace ringweave
