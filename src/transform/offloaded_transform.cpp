// SPDX-License-Identifier: GPL-3.0-or-later
#include "transform/offloaded_transform.hpp"

#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "ringweave/error.hpp"
#include "ringweave/execution.hpp"

namespace ringweave::detail::inline transform {
namespace {

constexpr const char* transform_through_device = "transform through a device";

}  // namespace

OffloadedTransform::OffloadedTransform(const Communicator& comm, const TransformPlan& plan)
    : comm_(comm), data_(plan.spec.data), transform_(comm, plan) {
  agree(comm, [&] { allocate(); });
}

OffloadedTransform::~OffloadedTransform() = default;

void OffloadedTransform::allocate() {
  if (data_ == MemorySpace::device) return;
  const auto provide = [](auto& buffer, std::int64_t size) {
    if (buffer.size() != size) buffer.allocate(size);
  };
  const TransformSizes& sizes = transform_.sizes();
  provide(alm_, sizes.n_components * sizes.alm);
  provide(map_, sizes.n_components * sizes.n_pixels);
  provide(weights_, sizes.n_rings);
  if (copies_ == nullptr) copies_ = std::make_unique<StreamCopies>(transform_.stream());
}

void OffloadedTransform::require_data_on_host() const {
  if (data_ == MemorySpace::host) return;
  throw UsageError(
      "views of the host's memory: this transform was planned for data on the device (data in its "
      "TransformSpec)");
}

void OffloadedTransform::release() noexcept {
  alm_.release();
  map_.release();
  weights_.release();
  copies_.reset();
  transform_.release();
}

std::int64_t OffloadedTransform::device_bytes() const {
  return transform_.device_bytes() + alm_.bytes() + map_.bytes() + weights_.bytes();
}

std::int64_t OffloadedTransform::pinned_bytes() const {
  return transform_.staging_bytes() + (copies_ == nullptr ? 0 : copies_->pinned_bytes());
}

template <class T>
AlmView<T, MemorySpace::device> OffloadedTransform::device_alm() {
  return {reinterpret_cast<std::complex<T>*>(alm_.data()), transform_.sizes().n_components,
          transform_.sizes().alm};
}

template <class T>
MapView<T, MemorySpace::device> OffloadedTransform::device_map() {
  return {reinterpret_cast<T*>(map_.data()), transform_.sizes().n_components,
          transform_.sizes().n_pixels};
}

template <class T>
void OffloadedTransform::upload(ComponentView<const T> from,
                                ComponentView<T, MemorySpace::device> to) {
  for (std::int64_t c = 0; c < from.n_components(); ++c) {
    copies_->to_device(from.component(c).data(), to.component(c).data(),
                       from.size() * std::int64_t{sizeof(T)});
  }
}

template <class T>
void OffloadedTransform::download(ComponentView<T, MemorySpace::device> from, ComponentView<T> to) {
  for (std::int64_t c = 0; c < from.n_components(); ++c) {
    copies_->to_host(from.component(c).data(), to.component(c).data(),
                     from.size() * std::int64_t{sizeof(T)});
  }
}

template <class T>
void OffloadedTransform::synthesize(AlmView<const T> alm, MapView<T> map, StageTimes& times) {
  agree(comm_, [&] {
    require_data_on_host();
    transform_.sizes().require(transform_through_device, alm, map);
    allocate();
    const StageTimer timer(&times, "upload");
    upload<std::complex<T>>(alm, device_alm<T>());
    transform_.stream().synchronize();
  });
  transform_.time_stages(&times);
  transform_.synthesize<T>(device_alm<T>(), device_map<T>());
  agree(comm_, [&] {
    const StageTimer timer(&times, "download");
    download<T>(device_map<T>(), map);
    transform_.stream().synchronize();
  });
}

template <class T>
void OffloadedTransform::adjoint(MapView<const T> map, std::span<const double> ring_weights,
                                 AlmView<T> alm, Accumulate how, StageTimes& times) {
  const bool weighted = !ring_weights.empty();
  agree(comm_, [&] {
    require_data_on_host();
    transform_.sizes().require(transform_through_device, alm, map, ssize64(ring_weights));
    allocate();
    const StageTimer timer(&times, "upload");
    upload<T>(map, device_map<T>());
    if (weighted) copies_->to_device(ring_weights.data(), weights_.data(), weights_.bytes());
    if (how == Accumulate::add) upload<std::complex<T>>(alm, device_alm<T>());
    transform_.stream().synchronize();
  });
  const DeviceTransform::Weights weights =
      weighted ? DeviceTransform::Weights(weights_.view()) : DeviceTransform::Weights();
  transform_.time_stages(&times);
  transform_.adjoint<T>(device_map<T>(), weights, device_alm<T>(), how);
  agree(comm_, [&] {
    const StageTimer timer(&times, "download");
    download<std::complex<T>>(device_alm<T>(), alm);
    transform_.stream().synchronize();
  });
}

template <class T>
void OffloadedTransform::synthesize(AlmView<const T, MemorySpace::device> alm,
                                    MapView<T, MemorySpace::device> map, StageTimes& times) {
  transform_.time_stages(&times);
  transform_.synthesize<T>(alm, map);
  agree(comm_, [&] { transform_.stream().synchronize(); });
}

template <class T>
void OffloadedTransform::adjoint(MapView<const T, MemorySpace::device> map,
                                 DeviceTransform::Weights ring_weights,
                                 AlmView<T, MemorySpace::device> alm, Accumulate how,
                                 StageTimes& times) {
  transform_.time_stages(&times);
  transform_.adjoint<T>(map, ring_weights, alm, how);
  agree(comm_, [&] { transform_.stream().synchronize(); });
}

#define RINGWEAVE_INSTANTIATE(T)                                                                 \
  template void OffloadedTransform::synthesize<T>(AlmView<const T>, MapView<T>, StageTimes&);    \
  template void OffloadedTransform::adjoint<T>(MapView<const T>, std::span<const double>,        \
                                               AlmView<T>, Accumulate, StageTimes&);             \
  template void OffloadedTransform::synthesize<T>(AlmView<const T, MemorySpace::device>,         \
                                                  MapView<T, MemorySpace::device>, StageTimes&); \
  template void OffloadedTransform::adjoint<T>(                                                  \
      MapView<const T, MemorySpace::device>, DeviceTransform::Weights,                           \
      AlmView<T, MemorySpace::device>, Accumulate, StageTimes&);
RINGWEAVE_INSTANTIATE(float)
RINGWEAVE_INSTANTIATE(double)
#undef RINGWEAVE_INSTANTIATE

}  // namespace ringweave::detail::inline transform
