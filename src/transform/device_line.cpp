// SPDX-License-Identifier: GPL-3.0-or-later
#include "transform/device_line.hpp"

#include <string>

#include "base/error.hpp"
#include "distribute/agree.hpp"

namespace ringweave {
namespace {

template <class T>
void require_shape(ComponentView<T> view, std::int64_t n_components, std::int64_t size,
                   const char* what) {
  if (view.n_components() == n_components && view.size() == size) return;
  throw UsageError(std::string(what) + " has " + std::to_string(view.n_components()) +
                   " components of " + std::to_string(view.size()) + ", the plan expects " +
                   std::to_string(n_components) + " of " + std::to_string(size));
}

}  // namespace

DeviceLine::DeviceLine(const Communicator& comm, const TransformPlan& plan)
    : comm_(comm),
      n_components_(plan.spec.fields.n_components()),
      alm_size_(plan.alm.size()),
      n_pixels_(plan.rings.n_pixels()),
      n_rings_(plan.rings.n_rings()),
      transform_(comm, plan) {
  agree(comm, [&] { allocate(); });
}

void DeviceLine::allocate() {
  const auto provide = [](auto& buffer, std::int64_t size) {
    if (buffer.size() != size) buffer.allocate(size);
  };
  provide(alm_, n_components_ * alm_size_);
  provide(map_, n_components_ * n_pixels_);
  provide(weights_, n_rings_);
}

void DeviceLine::release() noexcept {
  alm_.release();
  map_.release();
  weights_.release();
  transform_.release();
}

std::int64_t DeviceLine::device_bytes() const {
  return transform_.device_bytes() + alm_.bytes() + map_.bytes() + weights_.bytes();
}

template <class T>
AlmView<T, MemorySpace::device> DeviceLine::device_alm() {
  return {reinterpret_cast<std::complex<T>*>(alm_.data()), n_components_, alm_size_};
}

template <class T>
MapView<T, MemorySpace::device> DeviceLine::device_map() {
  return {reinterpret_cast<T*>(map_.data()), n_components_, n_pixels_};
}

template <class T>
void DeviceLine::upload(ComponentView<const T> from, ComponentView<T, MemorySpace::device> to) {
  for (std::int64_t c = 0; c < from.n_components(); ++c) {
    copy_to_device(from.component(c).data(), to.component(c).data(),
                   from.size() * std::int64_t{sizeof(T)}, transform_.stream());
  }
}

template <class T>
void DeviceLine::download(ComponentView<T, MemorySpace::device> from, ComponentView<T> to) {
  for (std::int64_t c = 0; c < from.n_components(); ++c) {
    copy_to_host(from.component(c).data(), to.component(c).data(),
                 from.size() * std::int64_t{sizeof(T)}, transform_.stream());
  }
}

template <class T>
void DeviceLine::synthesize(AlmView<const T> alm, MapView<T> map, StageTimes& times) {
  agree(comm_, [&] {
    require_shape(alm, n_components_, alm_size_, "alm");
    require_shape(map, n_components_, n_pixels_, "map");
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
void DeviceLine::adjoint(MapView<const T> map, std::span<const double> ring_weights, AlmView<T> alm,
                         Accumulate how, StageTimes& times) {
  const bool weighted = !ring_weights.empty();
  agree(comm_, [&] {
    require_shape(alm, n_components_, alm_size_, "alm");
    require_shape(map, n_components_, n_pixels_, "map");
    if (weighted && static_cast<std::int64_t>(ring_weights.size()) != n_rings_) {
      throw UsageError(std::to_string(ring_weights.size()) + " weights of rings, the plan has " +
                       std::to_string(n_rings_) + " rings");
    }
    allocate();
    const StageTimer timer(&times, "upload");
    upload<T>(map, device_map<T>());
    if (weighted)
      copy_to_device(ring_weights.data(), weights_.data(), weights_.bytes(), transform_.stream());
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

#define RINGWEAVE_INSTANTIATE(T)                                                              \
  template void DeviceLine::synthesize<T>(AlmView<const T>, MapView<T>, StageTimes&);         \
  template void DeviceLine::adjoint<T>(MapView<const T>, std::span<const double>, AlmView<T>, \
                                       Accumulate, StageTimes&);
RINGWEAVE_INSTANTIATE(float)
RINGWEAVE_INSTANTIATE(double)
#undef RINGWEAVE_INSTANTIATE

}  // namespace ringweave
