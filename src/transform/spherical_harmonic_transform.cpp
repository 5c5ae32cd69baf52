// SPDX-License-Identifier: GPL-3.0-or-later
#include "transform/spherical_harmonic_transform.hpp"

#include <algorithm>
#include <complex>
#include <utility>

#include "base/error.hpp"
#include "distribute/agree.hpp"
#include "distribute/mode_rounding.hpp"

namespace ringweave {
namespace {

void require(std::int64_t n_components, std::int64_t size, std::int64_t planned_components,
             std::int64_t planned_size, const char* what) {
  if (n_components == planned_components && size == planned_size) return;
  throw UsageError(std::string(what) + " has " + std::to_string(n_components) + " components of " +
                   std::to_string(size) + ", the plan expects " +
                   std::to_string(planned_components) + " of " + std::to_string(planned_size));
}

}  // namespace

SphericalHarmonicTransform::SphericalHarmonicTransform(const Communicator& comm,
                                                       const TransformSpec& spec)
    : comm_(comm),
      plan_(agreed(comm, [&] { return TransformPlan(spec, comm.rank(), comm.size()); })) {
  agree_same(comm_, "the transform (grid, lmax, mmax, fields, options)", spec.digest());
  agree(comm_, [&] {
    ring_fft_ = make_ring_fft({plan_.rings, plan_.exchange.by_ring, spec.fields.n_components()},
                              spec.backend);
  });
  if (plan_.always_in_passes()) {
    passes_ = std::make_unique<LegendrePasses>(comm_, plan_, nullptr);
    return;
  }
  agree(comm_, [&] {
    legendre_ = make_legendre_stage(plan_.legendre_shape(plan_.exchange.by_order), spec.backend);
  });
  exchange_ = std::make_unique<Exchange>(comm_, plan_.exchange, spec.fields.n_components());
}

void SphericalHarmonicTransform::require_alm(std::int64_t n_components, std::int64_t size) const {
  require(n_components, size, fields().n_components(), alm_layout().size(), "alm");
}

void SphericalHarmonicTransform::require_map(std::int64_t n_components, std::int64_t size) const {
  require(n_components, size, fields().n_components(), rings().n_pixels(), "map");
}

void SphericalHarmonicTransform::release_workspace() noexcept {
  ring_modes_.release();
  order_modes_.release();
  if (passes_ != nullptr) passes_->release();
}

ModeView<double> SphericalHarmonicTransform::ring_modes() {
  const std::int64_t size = plan_.exchange.by_ring.size() * fields().n_components();
  if (ring_modes_.size() != size) ring_modes_.allocate(size);
  return {ring_modes_.data(), size};
}

ModeView<double> SphericalHarmonicTransform::order_modes() {
  if (alone()) return ring_modes();
  const std::int64_t size = plan_.exchange.by_order.size() * fields().n_components();
  if (order_modes_.size() != size) order_modes_.allocate(size);
  return {order_modes_.data(), size};
}

template <class T>
ModeView<double> SphericalHarmonicTransform::order_modes_within(MapView<T> map) {
  if (alone()) return ring_modes();
  const std::int64_t size = plan_.exchange.by_order.size() * fields().n_components();
  const std::int64_t bytes = map.n_components() * map.size() * static_cast<std::int64_t>(sizeof(T));
  const bool aligned =
      reinterpret_cast<std::uintptr_t>(map.data()) % alignof(std::complex<double>) == 0;
  if (map.stride() != map.size() || bytes < plan_.by_order_bytes() || !aligned)
    return order_modes();
  return {reinterpret_cast<std::complex<double>*>(map.data()), size};
}

template <class T>
void SphericalHarmonicTransform::legendre_synthesize(AlmView<const T> alm, ModeView<double> modes) {
  const StageTimer timer(&times_, "legendre");
  legendre_->synthesize(alm, modes);
}

template <class T>
void SphericalHarmonicTransform::legendre_adjoint(ModeView<const double> modes, AlmView<T> alm,
                                                  Accumulate how) {
  const StageTimer timer(&times_, "legendre");
  legendre_->adjoint(modes, alm, how);
}

template <class T>
void SphericalHarmonicTransform::fft_synthesize(ModeView<const double> modes, MapView<T> map) {
  const StageTimer timer(&times_, "ring_fft");
  ring_fft_->synthesize(modes, map);
}

template <class T>
void SphericalHarmonicTransform::fft_adjoint(MapView<const T> map,
                                             std::span<const double> ring_weights,
                                             ModeView<double> modes) {
  const StageTimer timer(&times_, "ring_fft");
  ring_fft_->adjoint(map, ring_weights, modes);
}

void SphericalHarmonicTransform::orders_to_rings(ModeView<const double> by_order,
                                                 ModeView<double> by_ring) {
  if (alone()) return round_alone(by_ring);
  const StageTimer timer(&times_, "exchange");
  exchange_->orders_to_rings(by_order, by_ring);
}

void SphericalHarmonicTransform::rings_to_orders(ModeView<const double> by_ring,
                                                 ModeView<double> by_order) {
  if (alone()) return round_alone(by_order);
  const StageTimer timer(&times_, "exchange");
  exchange_->rings_to_orders(by_ring, by_order);
}

void SphericalHarmonicTransform::round_alone(ModeView<double> modes) {
  if (plan_.spec.exchange.precision == ModePrecision::double_) return;
  const StageTimer timer(&times_, "exchange");
  const ExchangePlan::Block own = plan_.exchange.by_order_blocks.front();
  const std::int64_t first = own.first * fields().n_components();
  const CopyRun used{first, first, own.count * fields().n_components()};
  require_single_range(round_to_single(modes.data(), modes.data(), {&used, 1}));
}

template <class T>
void SphericalHarmonicTransform::synthesize(AlmView<const T> alm, MapView<T> map) {
  ModeView<double> by_order;
  ModeView<double> by_ring;
  const bool in_passes = plan_.always_in_passes();
  agree(comm_, [&] {
    require_alm(alm.n_components(), alm.size());
    require_map(map.n_components(), map.size());
    by_ring = ring_modes();
    if (in_passes) return passes_->allocate();
    by_order = order_modes_within(map);
    legendre_synthesize<T>(alm, by_order);
  });
  if (in_passes) {
    passes_->synthesize<T>(alm, by_ring, times_);
  } else {
    orders_to_rings(by_order, by_ring);
  }
  fft_synthesize<T>(by_ring, map);
}

template <class T>
MapBuffer<T> SphericalHarmonicTransform::synthesize_in_passes(AlmBuffer<T>&& alm) {
  ModeView<double> by_ring;
  agree(comm_, [&] {
    require_alm(alm.n_components(), alm.size());
    by_ring = ring_modes();
    passes_->allocate();
  });
  passes_->synthesize<T>(std::as_const(alm).view(), by_ring, times_);
  alm.release();
  passes_->release();
  auto map = agreed(comm_, [&] { return make_map<T>(); });
  fft_synthesize<T>(by_ring, map.view());
  return map;
}

template <class T>
MapBuffer<T> SphericalHarmonicTransform::synthesize(AlmBuffer<T>&& alm) {
  if (plan_.always_in_passes()) return synthesize_in_passes<T>(std::move(alm));
  MapBuffer<T> map;
  ModeView<double> by_order;
  ModeView<double> by_ring;
  agree(comm_, [&] {
    require_alm(alm.n_components(), alm.size());
    if (!alone()) {
      ring_modes_.release();
      map = make_map<T>();
    }
    by_order = order_modes_within(map.view());
    legendre_synthesize<T>(std::as_const(alm).view(), by_order);
    alm.release();
    if (alone()) map = make_map<T>();
    by_ring = ring_modes();
  });
  orders_to_rings(by_order, by_ring);
  fft_synthesize<T>(by_ring, map.view());
  return map;
}

template <class T>
void SphericalHarmonicTransform::adjoint(MapView<const T> map, std::span<const double> ring_weights,
                                         AlmView<T> alm, Accumulate how) {
  ModeView<double> by_order;
  ModeView<double> by_ring;
  const bool in_passes = plan_.always_in_passes() || (!alone() && plan_.n_passes > 1);
  agree(comm_, [&] {
    require_alm(alm.n_components(), alm.size());
    require_map(map.n_components(), map.size());
    by_ring = ring_modes();
    if (!in_passes) by_order = order_modes();
    fft_adjoint<T>(map, ring_weights, by_ring);
  });
  if (in_passes) {
    prepare_passes();
    passes_->adjoint<T>(by_ring, alm, how, times_);
  } else {
    rings_to_orders(by_ring, by_order);
    legendre_adjoint<T>(by_order, alm, how);
  }
}

void SphericalHarmonicTransform::prepare_passes() {
  if (passes_ == nullptr) {
    passes_ = std::make_unique<LegendrePasses>(comm_, plan_, legendre_.get());
  }
  agree(comm_, [&] { passes_->allocate(); });
}

template <class T>
void SphericalHarmonicTransform::adjoint_destroying(MapView<T> map,
                                                    std::span<const double> ring_weights,
                                                    AlmView<T> alm, Accumulate how) {
  if (plan_.always_in_passes()) return adjoint<T>(map, ring_weights, alm, how);
  ModeView<double> by_order;
  ModeView<double> by_ring;
  agree(comm_, [&] {
    require_alm(alm.n_components(), alm.size());
    require_map(map.n_components(), map.size());
    by_ring = ring_modes();
    by_order = order_modes_within(map);
    fft_adjoint<T>(map, ring_weights, by_ring);
  });
  rings_to_orders(by_ring, by_order);
  legendre_adjoint<T>(by_order, alm, how);
}

template <class T>
AlmBuffer<T> SphericalHarmonicTransform::adjoint_in_passes(MapBuffer<T>&& map,
                                                           std::span<const double> ring_weights) {
  ModeView<double> by_ring;
  agree(comm_, [&] {
    require_map(map.n_components(), map.size());
    by_ring = ring_modes();
    fft_adjoint<T>(std::as_const(map).view(), ring_weights, by_ring);
  });
  map.release();
  auto alm = agreed(comm_, [&] { return make_alm<T>(); });
  prepare_passes();
  passes_->adjoint<T>(by_ring, alm.view(), Accumulate::overwrite, times_);
  return alm;
}

template <class T>
AlmBuffer<T> SphericalHarmonicTransform::adjoint(MapBuffer<T>&& map,
                                                 std::span<const double> ring_weights) {
  if (plan_.always_in_passes()) return adjoint_in_passes<T>(std::move(map), ring_weights);
  AlmBuffer<T> alm;
  ModeView<double> by_order;
  ModeView<double> by_ring;
  agree(comm_, [&] {
    require_map(map.n_components(), map.size());
    by_ring = ring_modes();
    by_order = order_modes_within(map.view());
    fft_adjoint<T>(std::as_const(map).view(), ring_weights, by_ring);
  });
  rings_to_orders(by_ring, by_order);
  agree(comm_, [&] {
    if (alone()) {
      map.release();
    } else {
      ring_modes_.release();
    }
    alm = make_alm<T>();
  });
  legendre_adjoint<T>(by_order, alm.view(), Accumulate::overwrite);
  map.release();
  return alm;
}

#define RINGWEAVE_INSTANTIATE(T)                                                               \
  template void SphericalHarmonicTransform::synthesize(AlmView<const T>, MapView<T>);          \
  template MapBuffer<T> SphericalHarmonicTransform::synthesize(AlmBuffer<T>&&);                \
  template void SphericalHarmonicTransform::adjoint(MapView<const T>, std::span<const double>, \
                                                    AlmView<T>, Accumulate);                   \
  template void SphericalHarmonicTransform::adjoint_destroying(                                \
      MapView<T>, std::span<const double>, AlmView<T>, Accumulate);                            \
  template AlmBuffer<T> SphericalHarmonicTransform::adjoint(MapBuffer<T>&&,                    \
                                                            std::span<const double>);
RINGWEAVE_INSTANTIATE(float)
RINGWEAVE_INSTANTIATE(double)
#undef RINGWEAVE_INSTANTIATE

}  // namespace ringweave
