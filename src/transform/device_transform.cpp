// SPDX-License-Identifier: GPL-3.0-or-later
#include "transform/device_transform.hpp"

#include <algorithm>
#include <utility>

#include "base/checked_cast.hpp"
#include "base/device.hpp"
#include "distribute/exchange/device_transport.hpp"
#include "distribute/mpi/agree.hpp"
#include "ringweave/error.hpp"
#include "ringweave/execution.hpp"

namespace ringweave::detail::inline transform {
namespace {

/// Staged modes are copied in parts of at least this size, and in at most this many parts. Neither
/// value is measured.
constexpr std::int64_t least_bytes_of_part = std::int64_t{8} << 20;
constexpr std::int64_t most_parts = 8;
/// Calls whose graphs are kept: a few pairs of buffers, in both directions.
constexpr std::int64_t most_calls = 8;

int count_parts(const TransformPlan& plan, std::int64_t n_components, DeviceRoute route) {
  if (plan.n_ranks == 1 || route == DeviceRoute::direct) return 1;
  const std::int64_t bytes =
      plan.sent_modes * n_components * complex_bytes(plan.spec.exchange.precision);
  return static_cast<int>(std::clamp<std::int64_t>(bytes / least_bytes_of_part, 1, most_parts));
}

constexpr const char* transform_on_device = "transform on a device";

}  // namespace

DeviceTransform::DeviceTransform(const Communicator& comm, const TransformPlan& plan)
    : comm_(comm),
      sizes_{plan.spec.fields.n_components(), plan.alm.size(), plan.rings.n_pixels(),
             plan.rings.n_rings()},
      groups_(plan.groups),
      stream_(agreed(comm, [] { return std::make_unique<DeviceStream>(); })),
      route_(find_device_route(comm, *stream_)) {
  const FinishOnError finish(*stream_);
  for (const FieldSet& fields : fields_of_shapes(groups_))
    pipelines_.push_back(make_pipeline(plan, fields));
  agree(comm, [&] { allocate(); });
}

DeviceTransform::DevicePipeline DeviceTransform::make_pipeline(const TransformPlan& plan,
                                                               const FieldSet& fields) const {
  OrderPasses passes;
  std::unique_ptr<DeviceLegendreStage> legendre;
  std::unique_ptr<DeviceRingFft> ring_fft;
  std::unique_ptr<ModeTransport> transport;
  const FinishOnError finish(*stream_);
  agree(comm_, [&] {
    passes =
        plan.order_passes(plan.n_passes_within, count_parts(plan, fields.n_components(), route_));
    legendre = make_device_legendre_stage(plan.legendre_shape(fields, passes.by_order), *stream_);
    ring_fft = make_device_ring_fft(plan.ring_fft_shape(fields), *stream_);
    transport =
        make_device_transport(*stream_, route_, plan.spec.exchange.precision, plan.countable());
  });
  auto exchange = std::make_unique<ModeExchange>(comm_, passes, fields.n_components(),
                                                 plan.spec.exchange, std::move(transport));
  const std::int64_t graphs_of_a_call = plan.n_passes_within * most_parts + 1;
  return {comm_, std::move(passes),
          DeviceStages(std::move(legendre), std::move(ring_fft), *stream_,
                       to_size(most_calls * graphs_of_a_call)),
          std::move(exchange)};
}

DeviceStages::Modes DeviceTransform::modes_of(const FieldGroup& group) {
  const OrderPasses& passes = pipeline_of(group).passes();
  const std::int64_t n = group.fields.n_components();
  return {{modes_.data(), passes.by_order.size() * n}, passes.by_ring_size * n};
}

void DeviceTransform::allocate() {
  const std::int64_t size = pipelines_.front().passes().by_order.size() * most_components(groups_);
  if (modes_.size() != size) modes_.allocate(size);
  for (DevicePipeline& pipeline : pipelines_) pipeline.allocate();
}

void DeviceTransform::release() noexcept {
  try {
    stream_->synchronize();  // graphs may still be running
  } catch (const Error&) {
    // A failed device runs nothing any more; the next call reports it.
  }
  modes_.release();
  for (DevicePipeline& pipeline : pipelines_) {
    pipeline.stages().forget_graphs();
    pipeline.release();
  }
}

std::int64_t DeviceTransform::device_bytes() const {
  std::int64_t total = modes_.bytes();
  for (const DevicePipeline& pipeline : pipelines_)
    total += pipeline.stages().device_bytes() + pipeline.exchange_bytes().device;
  return total;
}

std::int64_t DeviceTransform::staging_bytes() const {
  std::int64_t total = 0;
  for (const DevicePipeline& pipeline : pipelines_) total += pipeline.exchange_bytes().pinned;
  return total;
}

void DeviceTransform::time_stages(StageTimes* times) {
  for (DevicePipeline& pipeline : pipelines_) pipeline.stages().time_stages(times);
}

template <class T>
void DeviceTransform::synthesize(Alm<const T> alm, Map<T> map) {
  agree(comm_, [&] {
    sizes_.require(transform_on_device, alm, map);
    allocate();
  });
  const FinishOnError finish(*stream_);
  for (const FieldGroup& group : groups_)
    pipeline_of(group).synthesize<T>(group.of(alm), modes_of(group), group.of(map));
}

template <class T>
void DeviceTransform::adjoint(Map<const T> map, Weights ring_weights, Alm<T> alm, Accumulate how) {
  agree(comm_, [&] {
    sizes_.require(transform_on_device, alm, map, ring_weights.size());
    allocate();
  });
  const FinishOnError finish(*stream_);
  for (const FieldGroup& group : groups_)
    pipeline_of(group).adjoint<T>(group.of(map), ring_weights, modes_of(group), group.of(alm), how);
}

#define RINGWEAVE_INSTANTIATE(T)                                      \
  template void DeviceTransform::synthesize<T>(Alm<const T>, Map<T>); \
  template void DeviceTransform::adjoint<T>(Map<const T>, Weights, Alm<T>, Accumulate);
RINGWEAVE_INSTANTIATE(float)
RINGWEAVE_INSTANTIATE(double)
#undef RINGWEAVE_INSTANTIATE

}  // namespace ringweave::detail::inline transform
