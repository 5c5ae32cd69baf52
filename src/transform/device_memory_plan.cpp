// SPDX-License-Identifier: GPL-3.0-or-later
#include "transform/device_memory_plan.hpp"

#include <complex>
#include <vector>

#include "base/checked_cast.hpp"
#include "distribute/exchange/mode_exchange.hpp"
#include "fft/device_ring_fft.hpp"
#include "legendre/device_legendre_stage.hpp"
#include "ringweave/execution.hpp"

namespace ringweave::detail::inline transform {

namespace {

/// Adds the stages of a group's fields, whose modes are exchanged in `passes`.
void add_stages(DeviceMemoryPlan& memory, const TransformPlan& plan, const OrderPasses& passes,
                const FieldSet& fields) {
  memory.legendre += device_legendre_bytes(plan.legendre_shape(fields, passes.by_order));
  memory.ring_fft += device_ring_fft_bytes(plan.ring_fft_shape(fields));
  if (plan.n_ranks == 1) return;
  const std::int64_t packed = plan.packed_bytes(passes, fields);
  memory.staging += packed;
  if (plan.spec.exchange.precision == ModePrecision::single_) memory.modes += packed;
}

}  // namespace

DeviceMemoryPlan plan_device_memory(const TransformPlan& plan) {
  constexpr std::int64_t mode_bytes = sizeof(std::complex<double>);
  constexpr std::int64_t real_bytes = sizeof(double);
  const std::int64_t n = plan.spec.fields.n_components();
  const OrderPasses passes = plan.order_passes(plan.n_passes_within);
  DeviceMemoryPlan memory;
  memory.modes = checked_product(plan.n_components_at_once() * mode_bytes, passes.by_order.size(),
                                 "bytes of ring modes");
  for (const FieldSet& fields : fields_of_shapes(plan.groups))
    add_stages(memory, plan, passes, fields);
  if (plan.spec.data == MemorySpace::device) return memory;
  memory.alm = checked_product(n * mode_bytes, plan.alm.size(), "bytes of a_lm");
  memory.map = checked_product(n * real_bytes, plan.rings.n_pixels(), "bytes of a map") +
               plan.rings.n_rings() * real_bytes;
  return memory;
}

DeviceMemoryPlan plan_device_blocks(const TransformPlan& plan) {
  const OrderPasses passes = plan.order_passes(plan.n_passes_within);
  DeviceMemoryPlan memory;
  for (const FieldSet& fields : fields_of_shapes(plan.groups)) {
    if (plan.spec.on_device != StagesOnDevice::ring_fft) {
      const BlockBytes legendre =
          legendre_block_bytes(plan.legendre_shape(fields, passes.by_order));
      memory.legendre += legendre.device_bytes;
      memory.staging += legendre.pinned_bytes;
    }
    if (plan.spec.on_device != StagesOnDevice::legendre) {
      const BlockBytes ring_fft = ring_fft_block_bytes(plan.ring_fft_shape(fields));
      memory.ring_fft += ring_fft.device_bytes;
      memory.staging += ring_fft.pinned_bytes;
    }
  }
  return memory;
}

}  // namespace ringweave::detail::inline transform
