// SPDX-License-Identifier: GPL-3.0-or-later
#include "transform/device_memory_plan.hpp"

#include <complex>
#include <vector>

#include "base/checked_cast.hpp"
#include "distribute/exchange/staged_side.hpp"
#include "fft/device_ring_fft.hpp"
#include "legendre/device_legendre_stage.hpp"

namespace ringweave {

namespace {

/// Positions of both layouts that hold modes of other ranks, padding included.
std::int64_t foreign_positions(const TransformPlan& plan) {
  const ExchangePlan& exchange = plan.exchange;
  return StagedSide(exchange.by_order_blocks, plan.rank, exchange.by_order.size()).positions() +
         StagedSide(exchange.by_ring_blocks, plan.rank, exchange.by_ring.size()).positions();
}

/// Adds what the stages of a group's fields hold.
void add_stages(DeviceMemoryPlan& memory, const TransformPlan& plan, const FieldSet& fields) {
  const std::int64_t n = fields.n_components();
  memory.legendre += device_legendre_bytes(plan.legendre_shape(fields, plan.exchange.by_order));
  memory.ring_fft += device_ring_fft_bytes(plan.ring_fft_shape(fields));
  if (plan.n_ranks == 1) return;
  const ModePrecision precision = plan.spec.exchange.precision;
  const std::int64_t travelling = foreign_positions(plan) * n * complex_bytes(precision);
  memory.staging += travelling;
  if (precision == ModePrecision::single_) memory.modes += travelling;
}

/// One group of fields for each set of stages.
std::vector<FieldSet> fields_of_stages(const TransformPlan& plan) {
  std::vector<FieldSet> fields;
  for (const FieldGroup& group : plan.groups) {
    if (group.shape == ssize64(fields)) fields.push_back(group.fields);
  }
  return fields;
}

}  // namespace

DeviceMemoryPlan plan_device_memory(const TransformPlan& plan) {
  constexpr std::int64_t mode_bytes = sizeof(std::complex<double>);
  constexpr std::int64_t real_bytes = sizeof(double);
  const std::int64_t n = plan.spec.fields.n_components();
  const std::int64_t positions =
      plan.exchange.by_ring.size() + (plan.n_ranks > 1 ? plan.exchange.by_order.size() : 0);
  DeviceMemoryPlan memory;
  memory.modes =
      checked_product(plan.n_components_at_once() * mode_bytes, positions, "bytes of ring modes");
  for (const FieldSet& fields : fields_of_stages(plan)) add_stages(memory, plan, fields);
  memory.alm = checked_product(n * mode_bytes, plan.alm.size(), "bytes of a_lm");
  memory.map = checked_product(n * real_bytes, plan.rings.n_pixels(), "bytes of a map") +
               plan.rings.n_rings() * real_bytes;
  return memory;
}

DeviceMemoryPlan plan_device_blocks(const TransformPlan& plan) {
  DeviceMemoryPlan memory;
  for (const FieldSet& fields : fields_of_stages(plan)) {
    const LegendreBlockBytes legendre =
        legendre_block_bytes(plan.legendre_shape(fields, plan.exchange.by_order));
    memory.legendre += legendre.device_bytes;
    memory.staging += legendre.pinned_bytes;
    memory.ring_fft += ring_fft_block_bytes(plan.ring_fft_shape(fields));
  }
  return memory;
}

}  // namespace ringweave
