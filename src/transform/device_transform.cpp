// SPDX-License-Identifier: GPL-3.0-or-later
#include "transform/device_transform.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/checked_cast.hpp"
#include "base/error.hpp"
#include "base/planned_count.hpp"
#include "distribute/agree.hpp"
#include "distribute/row_parts.hpp"

namespace ringweave {
namespace {

/// Staged modes are copied in parts of this size or larger, and in no more than these; neither is
/// measured.
constexpr std::int64_t least_bytes_of_part = std::int64_t{8} << 20;
constexpr std::int64_t most_parts = 8;
/// Graphs that are kept: those of a few pairs of buffers, in both directions.
constexpr std::size_t most_calls = 8;
constexpr std::size_t most_replays = most_calls * (to_size(most_parts) + 1);

std::vector<RowPart> parts_of(const TransformPlan& plan, DeviceRoute route) {
  const bool staged = plan.n_ranks > 1 && route == DeviceRoute::staged;
  const std::int64_t wanted = staged ? plan.by_order_bytes() / least_bytes_of_part : 1;
  const auto n_parts = static_cast<int>(std::clamp<std::int64_t>(wanted, 1, most_parts));
  return plan_row_parts(plan.limits, plan.fold, plan.orders, plan.ring_bands, plan.rank,
                        plan.exchange, plan.spec.exchange.folding, n_parts);
}

void require_double_exchange(const TransformPlan& plan) {
  if (plan.spec.exchange.precision == ModePrecision::double_) return;
  throw UsageError(
      "a transform on a device exchanges its ring modes in double precision; choose that, or leave "
      "a_lm and maps on the host");
}

constexpr const char* where = "transform on a device";

}  // namespace

DeviceTransform::DeviceTransform(const Communicator& comm, const TransformPlan& plan)
    : comm_(comm),
      n_components_(plan.spec.fields.n_components()),
      alm_size_(plan.alm.size()),
      n_pixels_(plan.rings.n_pixels()),
      n_rings_(plan.rings.n_rings()),
      order_size_(plan.exchange.by_order.size() * n_components_),
      ring_size_(plan.exchange.by_ring.size() * n_components_),
      stream_(agreed(comm,
                     [&] {
                       require_double_exchange(plan);
                       return std::make_unique<DeviceStream>();
                     })),
      route_(find_device_route(comm, *stream_)),
      legendre_(agreed(comm,
                       [&] {
                         return make_device_legendre_stage(
                             plan.legendre_shape(plan.spec.fields, plan.exchange.by_order),
                             *stream_);
                       })),
      ring_fft_(agreed(comm,
                       [&] {
                         return make_device_ring_fft(
                             {plan.rings, plan.exchange.by_ring, n_components_}, *stream_);
                       })),
      exchange_(comm, plan.exchange, parts_of(plan, route_), n_components_, route_, *stream_),
      replays_(most_replays) {
  agree(comm, [&] { allocate(); });
}

void DeviceTransform::allocate() {
  if (ring_modes_.size() != ring_size_) ring_modes_.allocate(ring_size_);
  if (alone()) return;
  if (order_modes_.size() != order_size_) order_modes_.allocate(order_size_);
  exchange_.allocate();
}

void DeviceTransform::release() noexcept {
  try {
    stream_->synchronize();  // graphs may still run
  } catch (const Error&) {
    // A device that failed runs nothing any more; the next call says so.
  }
  replays_.clear();
  ring_modes_.release();
  order_modes_.release();
  exchange_.release();
}

std::int64_t DeviceTransform::device_bytes() const {
  return legendre_->device_bytes() + ring_fft_->device_bytes() + ring_modes_.bytes() +
         order_modes_.bytes();
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
  if (times_ != nullptr) stages_.begin(*stream_);
}
void DeviceTransform::end_stage(const char* stage) {
  if (times_ != nullptr) stages_.end(stage, *stream_);
}
void DeviceTransform::add_stages() {
  if (times_ != nullptr) stages_.add_to(*times_);
}

void DeviceTransform::give_all_rows(const DeviceExchange::RowWork& legendre) {
  const auto rows = legendre_->all_rows();
  legendre(rows.first, rows.count);
}

void DeviceTransform::give_synthesis_alone(const DeviceExchange::RowWork& legendre,
                                           const std::function<void()>& fft) {
  begin_stages();
  give_all_rows(legendre);
  end_stage("legendre");
  fft();
  end_stage("ring_fft");
  add_stages();
}

void DeviceTransform::give_synthesis(const DeviceExchange::RowWork& legendre,
                                     const std::function<void()>& fft) {
  if (alone()) return give_synthesis_alone(legendre, fft);
  exchange_.orders_to_rings(legendre, std::as_const(order_modes_).view(), ring_modes_.view(),
                            times_);
  const StageTimer timer(times_, "ring_fft");
  agree(comm_, [&] {
    fft();
    wait_if_timed();
  });
}

void DeviceTransform::give_adjoint_alone(const std::function<void()>& fft,
                                         const DeviceExchange::RowWork& legendre) {
  begin_stages();
  fft();
  end_stage("ring_fft");
  give_all_rows(legendre);
  end_stage("legendre");
  add_stages();
}

void DeviceTransform::give_adjoint(const std::function<void()>& fft,
                                   const DeviceExchange::RowWork& legendre) {
  if (alone()) return give_adjoint_alone(fft, legendre);
  {
    const StageTimer timer(times_, "ring_fft");
    agree(comm_, [&] {
      fft();
      wait_if_timed();
    });
  }
  exchange_.rings_to_orders(std::as_const(ring_modes_).view(), order_modes_.view(), legendre,
                            times_);
  const StageTimer timer(times_, "legendre");
  agree(comm_, [&] { wait_if_timed(); });
}

template <class T>
void DeviceTransform::synthesize(Alm<const T> alm, Map<T> map) {
  agree(comm_, [&] {
    require<T>(alm, map);
    allocate();
  });
  const auto legendre = [&](std::int64_t first, std::int64_t count) {
    give({Piece::Stage::synthesis_rows, sizeof(T), alm.data(), alm.stride(), nullptr, first, count},
         [&] { legendre_->synthesize({first, count}, alm, order_modes().view()); });
  };
  const auto fft = [&] {
    give({Piece::Stage::to_pixels, sizeof(T), map.data(), map.stride(), nullptr, 0, 0},
         [&] { ring_fft_->synthesize(std::as_const(ring_modes_).view(), map); });
  };
  give_synthesis(legendre, fft);
}

template <class T>
void DeviceTransform::adjoint(Map<const T> map, Weights ring_weights, Alm<T> alm, Accumulate how) {
  agree(comm_, [&] {
    require<T>(alm, map);
    if (ring_weights.size() > 0)
      require_planned(where, ring_weights.size(), n_rings_, "weights of rings");
    allocate();
  });
  const auto fft = [&] {
    give({Piece::Stage::to_modes, sizeof(T), map.data(), map.stride(), ring_weights.data(), 0, 0},
         [&] { ring_fft_->adjoint(map, ring_weights, ring_modes_.view()); });
  };
  const auto stage = how == Accumulate::add ? Piece::Stage::adjoint_rows_adding
                                            : Piece::Stage::adjoint_rows;
  const auto legendre = [&](std::int64_t first, std::int64_t count) {
    give({stage, sizeof(T), alm.data(), alm.stride(), nullptr, first, count}, [&] {
      legendre_->adjoint({first, count}, std::as_const(order_modes()).view(), alm, how);
    });
  };
  give_adjoint(fft, legendre);
}

#define RINGWEAVE_INSTANTIATE(T)                                      \
  template void DeviceTransform::synthesize<T>(Alm<const T>, Map<T>); \
  template void DeviceTransform::adjoint<T>(Map<const T>, Weights, Alm<T>, Accumulate);
RINGWEAVE_INSTANTIATE(float)
RINGWEAVE_INSTANTIATE(double)
#undef RINGWEAVE_INSTANTIATE

}  // namespace ringweave
