// SPDX-License-Identifier: GPL-3.0-or-later
#include "transform/device_transform.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/checked_cast.hpp"
#include "base/error.hpp"
#include "base/first_error.hpp"
#include "base/planned_count.hpp"
#include "distribute/exchange/row_parts.hpp"
#include "distribute/mpi/agree.hpp"

namespace ringweave {
namespace {

/// Staged modes are copied in parts of this size or larger, and in no more than these; neither is
/// measured.
constexpr std::int64_t least_bytes_of_part = std::int64_t{8} << 20;
constexpr std::int64_t most_parts = 8;
/// Graphs that are kept: those of a few pairs of buffers, in both directions.
constexpr std::size_t most_calls = 8;

std::vector<RowPart> parts_of(const TransformPlan& plan, std::int64_t n_components,
                              DeviceRoute route) {
  const bool staged = plan.n_ranks > 1 && route == DeviceRoute::staged;
  const std::int64_t bytes =
      plan.exchange.by_order.size() * n_components * complex_bytes(plan.spec.exchange.precision);
  const auto n_parts = static_cast<int>(
      std::clamp<std::int64_t>(staged ? bytes / least_bytes_of_part : 1, 1, most_parts));
  return plan_row_parts(plan.limits, plan.fold, plan.orders, plan.ring_bands, plan.rank,
                        plan.exchange, plan.spec.exchange.folding, n_parts);
}

constexpr const char* where = "transform on a device";

}  // namespace

DeviceTransform::DeviceTransform(const Communicator& comm, const TransformPlan& plan)
    : comm_(comm),
      n_components_(plan.spec.fields.n_components()),
      alm_size_(plan.alm.size()),
      n_pixels_(plan.rings.n_pixels()),
      n_rings_(plan.rings.n_rings()),
      precision_(plan.spec.exchange.precision),
      order_positions_(plan.exchange.by_order.size()),
      ring_positions_(plan.exchange.by_ring.size()),
      groups_(plan.groups),
      stream_(agreed(comm, [] { return std::make_unique<DeviceStream>(); })),
      route_(find_device_route(comm, *stream_)),
      graphs_(most_calls * (to_size(most_parts) + 1) * groups_.size()) {
  for (const FieldGroup& group : groups_) {
    if (group.shape == ssize64(stages_)) stages_.push_back(plan_stages(plan, group.fields));
  }
  agree(comm, [&] { allocate(); });
}

DeviceTransform::Stages DeviceTransform::plan_stages(const TransformPlan& plan,
                                                     const FieldSet& fields) const {
  Stages stages{.n_components = fields.n_components()};
  agree(comm_, [&] {
    stages.legendre =
        make_device_legendre_stage(plan.legendre_shape(fields, plan.exchange.by_order), *stream_);
    stages.ring_fft = make_device_ring_fft(plan.ring_fft_shape(fields), *stream_);
  });
  stages.exchange = std::make_unique<DeviceExchange>(
      comm_,
      StagedExchangeShape{plan.exchange, parts_of(plan, fields.n_components(), route_),
                          fields.n_components(), route_, precision_},
      *stream_);
  return stages;
}

void DeviceTransform::allocate() {
  const std::int64_t most = most_components(groups_);
  const auto provide = [&](Modes& modes, std::int64_t positions) {
    if (modes.size() != positions * most) modes.allocate(positions * most);
  };
  provide(ring_modes_, ring_positions_);
  if (!alone()) provide(order_modes_, order_positions_);
  for (Stages& stages : stages_) stages.exchange->allocate();
}

void DeviceTransform::release() noexcept {
  try {
    stream_->synchronize();  // graphs may still run
  } catch (const Error&) {
    // A device that failed runs nothing any more; the next call says so.
  }
  graphs_.clear();
  ring_modes_.release();
  order_modes_.release();
  for (Stages& stages : stages_) stages.exchange->release();
}

std::int64_t DeviceTransform::device_bytes() const {
  std::int64_t total = ring_modes_.bytes() + order_modes_.bytes();
  for (const Stages& stages : stages_) {
    total += stages.legendre->device_bytes() + stages.ring_fft->device_bytes() +
             stages.exchange->device_bytes();
  }
  return total;
}

std::int64_t DeviceTransform::staging_bytes() const {
  std::int64_t total = 0;
  for (const Stages& stages : stages_) total += stages.exchange->staging_bytes();
  return total;
}

template <class T>
void DeviceTransform::require(const Alm<const T>& alm, const Map<const T>& map) const {
  require_planned(where, alm.n_components(), n_components_, "components of a_lm");
  require_planned(where, alm.size(), alm_size_, "coefficients of a component");
  require_planned(where, map.n_components(), n_components_, "components of a map");
  require_planned(where, map.size(), n_pixels_, "pixels");
}

void DeviceTransform::wait_if_timed() const {
  if (times_ != nullptr) stream_->synchronize();
}

void DeviceTransform::begin_stages() {
  if (times_ != nullptr) stage_marks_.begin(*stream_);
}
void DeviceTransform::end_stage(const char* stage) {
  if (times_ != nullptr) stage_marks_.end(stage, *stream_);
}
void DeviceTransform::add_stages() {
  if (times_ != nullptr) stage_marks_.add_to(*times_);
}

void DeviceTransform::give_all_rows(Stages& stages, const DeviceExchange::RowWork& legendre) {
  const auto rows = stages.legendre->all_rows();
  legendre(rows.first, rows.count);
}

void DeviceTransform::round_alone(Stages& stages) {
  if (!in_single()) return;
  stages.exchange->round_alone(ring_modes(stages));
  end_stage("exchange");
}

void DeviceTransform::require_range() {
  // Also those after one that refuses: what they found must not count against the next call.
  FirstError error;
  for (Stages& stages : stages_) error.guard([&] { stages.exchange->require_range(); });
  error.rethrow();
}

void DeviceTransform::give_synthesis_alone(Stages& stages, const DeviceExchange::RowWork& legendre,
                                           const std::function<void()>& fft) {
  begin_stages();
  give_all_rows(stages, legendre);
  end_stage("legendre");
  round_alone(stages);
  fft();
  end_stage("ring_fft");
  add_stages();
}

void DeviceTransform::give_synthesis(Stages& stages, const DeviceExchange::RowWork& legendre,
                                     const std::function<void()>& fft) {
  if (alone()) return give_synthesis_alone(stages, legendre, fft);
  stages.exchange->orders_to_rings(legendre, order_modes(stages), ring_modes(stages), times_);
  const StageTimer timer(times_, "ring_fft");
  agree(comm_, [&] {
    fft();
    wait_if_timed();
  });
}

void DeviceTransform::give_adjoint_alone(Stages& stages, const std::function<void()>& fft,
                                         const DeviceExchange::RowWork& legendre) {
  begin_stages();
  fft();
  end_stage("ring_fft");
  round_alone(stages);
  give_all_rows(stages, legendre);
  end_stage("legendre");
  add_stages();
}

void DeviceTransform::give_adjoint(Stages& stages, const std::function<void()>& fft,
                                   const DeviceExchange::RowWork& legendre) {
  if (alone()) return give_adjoint_alone(stages, fft, legendre);
  {
    const StageTimer timer(times_, "ring_fft");
    agree(comm_, [&] {
      fft();
      wait_if_timed();
    });
  }
  stages.exchange->rings_to_orders(ring_modes(stages), order_modes(stages), legendre, times_);
  const StageTimer timer(times_, "legendre");
  agree(comm_, [&] { wait_if_timed(); });
}

template <class T>
void DeviceTransform::synthesize(Alm<const T> all_alm, Map<T> all_map) {
  agree(comm_, [&] {
    require<T>(all_alm, all_map);
    allocate();
  });
  for (const FieldGroup& group : groups_) {
    Stages& stages = stages_of(group);
    const Alm<const T> alm = group.of(all_alm);
    const Map<T> map = group.of(all_map);
    const auto legendre = [&](std::int64_t first, std::int64_t count) {
      submit({GraphKey::Stage::synthesis_rows, group.shape, sizeof(T), alm.data(), alm.stride(),
              nullptr, first, count},
             [&] {
               stages.legendre->synthesize({first, count}, alm, order_modes(stages));
             });
    };
    const auto fft = [&] {
      submit({GraphKey::Stage::to_pixels, group.shape, sizeof(T), map.data(), map.stride(), nullptr,
              0, 0},
             [&] { stages.ring_fft->synthesize(ring_modes(stages), map); });
    };
    give_synthesis(stages, legendre, fft);
  }
  require_range();
}

template <class T>
void DeviceTransform::adjoint(Map<const T> all_map, Weights ring_weights, Alm<T> all_alm,
                              Accumulate how) {
  agree(comm_, [&] {
    require<T>(all_alm, all_map);
    if (ring_weights.size() > 0)
      require_planned(where, ring_weights.size(), n_rings_, "weights of rings");
    allocate();
  });
  const double* const weights = ring_weights.size() > 0 ? ring_weights.data() : nullptr;
  const auto stage =
      how == Accumulate::add ? GraphKey::Stage::adjoint_rows_adding : GraphKey::Stage::adjoint_rows;
  for (const FieldGroup& group : groups_) {
    Stages& stages = stages_of(group);
    const Map<const T> map = group.of(all_map);
    const Alm<T> alm = group.of(all_alm);
    const auto fft = [&] {
      submit({GraphKey::Stage::to_modes, group.shape, sizeof(T), map.data(), map.stride(), weights,
              0, 0},
             [&] { stages.ring_fft->adjoint(map, ring_weights, ring_modes(stages)); });
    };
    const auto legendre = [&](std::int64_t first, std::int64_t count) {
      submit({stage, group.shape, sizeof(T), alm.data(), alm.stride(), nullptr, first, count}, [&] {
        stages.legendre->adjoint({first, count}, order_modes(stages), alm, how);
      });
    };
    give_adjoint(stages, fft, legendre);
  }
  require_range();
}

#define RINGWEAVE_INSTANTIATE(T)                                      \
  template void DeviceTransform::synthesize<T>(Alm<const T>, Map<T>); \
  template void DeviceTransform::adjoint<T>(Map<const T>, Weights, Alm<T>, Accumulate);
RINGWEAVE_INSTANTIATE(float)
RINGWEAVE_INSTANTIATE(double)
#undef RINGWEAVE_INSTANTIATE

}  // namespace ringweave
