// SPDX-License-Identifier: GPL-3.0-or-later
#include "transform/device_memory_plan.hpp"

#include <complex>

#include "base/checked_cast.hpp"
#include "fft/device_ring_fft.hpp"
#include "legendre/device_legendre_stage.hpp"

namespace ringweave {

DeviceMemoryPlan plan_device_memory(const TransformPlan& plan) {
  constexpr std::int64_t complex_bytes = sizeof(std::complex<double>);
  constexpr std::int64_t real_bytes = sizeof(double);
  const FieldSet& fields = plan.spec.fields;
  const std::int64_t n = fields.n_components();
  DeviceMemoryPlan memory;
  memory.legendre = device_legendre_bytes(plan.legendre_shape(fields, plan.exchange.by_order));
  memory.ring_fft = device_ring_fft_bytes({plan.rings, plan.exchange.by_ring, n});
  memory.modes = plan.by_ring_bytes() + (plan.n_ranks > 1 ? plan.by_order_bytes() : 0);
  memory.alm = checked_product(n * complex_bytes, plan.alm.size(), "bytes of a_lm");
  memory.map = checked_product(n * real_bytes, plan.rings.n_pixels(), "bytes of a map") +
               plan.rings.n_rings() * real_bytes;
  if (plan.n_ranks > 1) {
    const auto own = to_size(plan.rank);
    const std::int64_t positions = plan.exchange.by_order.size() + plan.exchange.by_ring.size() -
                                   plan.exchange.by_order_blocks[own].count -
                                   plan.exchange.by_ring_blocks[own].count;
    memory.staging = positions * n * complex_bytes;
  }
  return memory;
}

}  // namespace ringweave
