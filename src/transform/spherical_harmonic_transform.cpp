// SPDX-License-Identifier: GPL-3.0-or-later
#include "transform/spherical_harmonic_transform.hpp"

#include <algorithm>
#include <complex>
#include <utility>

#include "base/checked_cast.hpp"
#include "base/error.hpp"
#include "distribute/exchange/mode_rounding.hpp"
#include "distribute/mpi/agree.hpp"

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
  if (spec.backend == Backend::cuda) plan_device_line();
  if (offloaded_ != nullptr) return;
  for (const FieldGroup& group : plan_.groups) {
    if (group.shape == ssize64(stages_)) stages_.push_back(plan_stages(group.fields));
  }
}

void SphericalHarmonicTransform::plan_device_line() {
  device_ = share_device(comm_, plan_);
  plan_.copying_stage_bytes = copying_stage_bytes(*device_, plan_.n_group_shapes());
  if (device_->on_device()) {
    try {
      offloaded_ = std::make_unique<OffloadedTransform>(comm_, plan_);
      return;
    } catch (const ResourceError& error) {
      // Somebody else took the memory meanwhile; what is wrong with a device the stages will say.
      device_->reason = error.what();
    }
  }
  device_->planned = agreed(comm_, [&] { return plan_device_blocks(plan_); });
}

SphericalHarmonicTransform::Stages SphericalHarmonicTransform::plan_stages(
    const FieldSet& fields) const {
  const Backend backend = plan_.spec.backend;
  Stages stages{.fields = fields};
  agree(comm_, [&] { stages.ring_fft = make_ring_fft(plan_.ring_fft_shape(fields), backend); });
  if (plan_.always_in_passes()) {
    stages.passes = std::make_unique<LegendrePasses>(comm_, plan_, fields, nullptr, plan_.n_passes);
    return stages;
  }
  agree(comm_, [&] {
    stages.legendre =
        make_legendre_stage(plan_.legendre_shape(fields, plan_.exchange.by_order), backend);
  });
  stages.exchange = std::make_unique<Exchange>(comm_, plan_.exchange, fields.n_components());
  return stages;
}

template <class Work>
void SphericalHarmonicTransform::finish(const Work& work) {
  if (plan_.spec.backend == Backend::host) return work();
  agree(comm_, work);
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
  if (offloaded_ != nullptr) offloaded_->release();
  for (Stages& stages : stages_) {
    if (stages.passes != nullptr) stages.passes->release();
    if (stages.one_pass != nullptr) stages.one_pass->release();
  }
}

ModeView<double> SphericalHarmonicTransform::ring_modes(const Stages& stages) {
  const std::int64_t positions = plan_.exchange.by_ring.size();
  const std::int64_t most = positions * plan_.n_components_at_once();
  if (ring_modes_.size() != most) ring_modes_.allocate(most);
  return {ring_modes_.data(), positions * stages.n_components()};
}

ModeView<double> SphericalHarmonicTransform::order_modes(std::int64_t positions,
                                                         std::int64_t n_components) {
  const std::int64_t most = positions * plan_.n_components_at_once();
  if (order_modes_.size() < most) order_modes_.allocate(most);
  return {order_modes_.data(), positions * n_components};
}

template <class T>
ModeView<double> SphericalHarmonicTransform::order_modes_within(std::int64_t positions,
                                                                std::int64_t n_components,
                                                                MapView<T> map) {
  const std::int64_t size = positions * n_components;
  const std::int64_t bytes = map.n_components() * map.size() * static_cast<std::int64_t>(sizeof(T));
  const std::int64_t needed = size * static_cast<std::int64_t>(sizeof(std::complex<double>));
  const bool aligned =
      reinterpret_cast<std::uintptr_t>(map.data()) % alignof(std::complex<double>) == 0;
  if (map.stride() != map.size() || bytes < needed || !aligned)
    return order_modes(positions, n_components);
  return {reinterpret_cast<std::complex<double>*>(map.data()), size};
}

template <class T>
ModeView<double> SphericalHarmonicTransform::whole_order_modes_within(const Stages& stages,
                                                                      MapView<T> map) {
  if (alone()) return ring_modes(stages);
  return order_modes_within<T>(plan_.exchange.by_order.size(), stages.n_components(), map);
}

template <class T>
void SphericalHarmonicTransform::legendre_synthesize(Stages& stages, AlmView<const T> alm,
                                                     ModeView<double> modes) {
  const StageTimer timer(&times_, "legendre");
  stages.legendre->synthesize(alm, modes);
}

template <class T>
void SphericalHarmonicTransform::legendre_adjoint(Stages& stages, ModeView<const double> modes,
                                                  AlmView<T> alm, Accumulate how) {
  const StageTimer timer(&times_, "legendre");
  stages.legendre->adjoint(modes, alm, how);
}

template <class T>
void SphericalHarmonicTransform::fft_synthesize(Stages& stages, ModeView<const double> modes,
                                                MapView<T> map) {
  const StageTimer timer(&times_, "ring_fft");
  stages.ring_fft->synthesize(modes, map);
}

template <class T>
void SphericalHarmonicTransform::fft_adjoint(Stages& stages, MapView<const T> map,
                                             std::span<const double> ring_weights,
                                             ModeView<double> modes) {
  const StageTimer timer(&times_, "ring_fft");
  stages.ring_fft->adjoint(map, ring_weights, modes);
}

void SphericalHarmonicTransform::orders_to_rings(const Stages& stages,
                                                 ModeView<const double> by_order,
                                                 ModeView<double> by_ring) {
  if (alone()) return round_alone(stages, by_ring);
  const StageTimer timer(&times_, "exchange");
  stages.exchange->orders_to_rings(by_order, by_ring);
}

void SphericalHarmonicTransform::rings_to_orders(const Stages& stages,
                                                 ModeView<const double> by_ring,
                                                 ModeView<double> by_order) {
  if (alone()) return round_alone(stages, by_order);
  const StageTimer timer(&times_, "exchange");
  stages.exchange->rings_to_orders(by_ring, by_order);
}

void SphericalHarmonicTransform::round_alone(const Stages& stages, ModeView<double> modes) {
  if (plan_.spec.exchange.precision == ModePrecision::double_) return;
  const StageTimer timer(&times_, "exchange");
  const ExchangePlan::Block own = plan_.exchange.by_order_blocks.front();
  const std::int64_t first = own.first * stages.n_components();
  const CopyRun used{first, first, own.count * stages.n_components()};
  require_single_range(round_to_single(modes.data(), modes.data(), {&used, 1}));
}

template <class T>
void SphericalHarmonicTransform::synthesize(AlmView<const T> alm, MapView<T> map) {
  if (offloaded_ != nullptr) return offloaded_->synthesize<T>(alm, map, times_);
  for (const FieldGroup& group : plan_.groups) {
    Stages& stages = stages_of(group);
    LegendrePasses* const passes = alone() ? nullptr : &passes_within_map(stages);
    ModeView<double> by_ring;
    ModeView<double> slots;
    agree(comm_, [&] {
      require_shapes<T>(alm, map);
      by_ring = ring_modes(stages);
      if (passes == nullptr) return legendre_synthesize<T>(stages, group.of(alm), by_ring);
      passes->allocate();
      slots = order_modes_within<T>(passes->slot_positions(), stages.n_components(), group.of(map));
    });
    if (passes == nullptr) {
      round_alone(stages, by_ring);
    } else {
      passes->synthesize<T>(group.of(alm), by_ring, slots, times_);
    }
    finish([&] { fft_synthesize<T>(stages, by_ring, group.of(map)); });
  }
}

/// In groups the first has its pixels before the last one has used its a_lm; on a device the host
/// has room for both.
template <class T>
MapBuffer<T> SphericalHarmonicTransform::synthesize_holding_both(AlmBuffer<T>&& alm) {
  auto map = agreed(comm_, [&] {
    require_alm(alm.n_components(), alm.size());
    return make_map<T>();
  });
  synthesize<T>(std::as_const(alm).view(), map.view());
  alm.release();
  return map;
}

template <class T>
MapBuffer<T> SphericalHarmonicTransform::synthesize_in_passes(AlmBuffer<T>&& alm) {
  Stages& stages = stages_.front();
  LegendrePasses& passes = *stages.passes;
  ModeView<double> by_ring;
  ModeView<double> slots;
  agree(comm_, [&] {
    require_alm(alm.n_components(), alm.size());
    by_ring = ring_modes(stages);
    slots = order_modes(passes.slot_positions(), stages.n_components());
    passes.allocate();
  });
  passes.synthesize<T>(std::as_const(alm).view(), by_ring, slots, times_);
  alm.release();
  order_modes_.release();
  passes.release();
  auto map = agreed(comm_, [&] { return make_map<T>(); });
  finish([&] { fft_synthesize<T>(stages, by_ring, map.view()); });
  return map;
}

template <class T>
MapBuffer<T> SphericalHarmonicTransform::synthesize(AlmBuffer<T>&& alm) {
  if (holds_both()) return synthesize_holding_both<T>(std::move(alm));
  if (plan_.always_in_passes()) return synthesize_in_passes<T>(std::move(alm));
  Stages& stages = stages_.front();
  MapBuffer<T> map;
  ModeView<double> by_order;
  ModeView<double> by_ring;
  agree(comm_, [&] {
    require_alm(alm.n_components(), alm.size());
    if (!alone()) {
      ring_modes_.release();
      map = make_map<T>();
    }
    by_order = whole_order_modes_within(stages, map.view());
    legendre_synthesize<T>(stages, std::as_const(alm).view(), by_order);
    alm.release();
    if (alone()) map = make_map<T>();
    by_ring = ring_modes(stages);
  });
  orders_to_rings(stages, by_order, by_ring);
  finish([&] { fft_synthesize<T>(stages, by_ring, map.view()); });
  return map;
}

template <class T>
void SphericalHarmonicTransform::adjoint_of_groups(MapView<const T> map,
                                                   std::span<const double> ring_weights,
                                                   AlmView<T> alm, Accumulate how,
                                                   const std::optional<MapView<T>>& scratch) {
  if (offloaded_ != nullptr) return offloaded_->adjoint<T>(map, ring_weights, alm, how, times_);
  for (const FieldGroup& group : plan_.groups) {
    Stages& stages = stages_of(group);
    LegendrePasses* const passes = alone()               ? nullptr
                                   : scratch.has_value() ? &passes_within_map(stages)
                                                         : &passes_beside_map(stages);
    ModeView<double> by_ring;
    ModeView<double> slots;
    agree(comm_, [&] {
      require_shapes<T>(alm, map);
      by_ring = ring_modes(stages);
      if (passes != nullptr) {
        passes->allocate();
        const std::int64_t positions = passes->slot_positions();
        slots = scratch.has_value()
                    ? order_modes_within<T>(positions, stages.n_components(), group.of(*scratch))
                    : order_modes(positions, stages.n_components());
      }
      fft_adjoint<T>(stages, group.of(map), ring_weights, by_ring);
    });
    if (passes == nullptr) {
      round_alone(stages, by_ring);
      finish([&] { legendre_adjoint<T>(stages, by_ring, group.of(alm), how); });
    } else {
      passes->adjoint<T>(by_ring, slots, group.of(alm), how, times_);
    }
  }
}

LegendrePasses& SphericalHarmonicTransform::made(std::unique_ptr<LegendrePasses>& passes,
                                                 const Stages& stages, int n_passes) {
  if (passes == nullptr) {
    passes = std::make_unique<LegendrePasses>(comm_, plan_, stages.fields, stages.legendre.get(),
                                              n_passes);
  }
  return *passes;
}

LegendrePasses& SphericalHarmonicTransform::passes_beside_map(Stages& stages) {
  return made(stages.passes, stages, plan_.n_passes);
}

LegendrePasses& SphericalHarmonicTransform::passes_within_map(Stages& stages) {
  // One pass counts all its modes at once for MPI.
  if (plan_.always_in_passes() || !plan_.countable() || plan_.n_passes == 1)
    return passes_beside_map(stages);
  return made(stages.one_pass, stages, 1);
}

template <class T>
void SphericalHarmonicTransform::adjoint(MapView<const T> map, std::span<const double> ring_weights,
                                         AlmView<T> alm, Accumulate how) {
  adjoint_of_groups<T>(map, ring_weights, alm, how, std::nullopt);
}

template <class T>
void SphericalHarmonicTransform::adjoint_destroying(MapView<T> map,
                                                    std::span<const double> ring_weights,
                                                    AlmView<T> alm, Accumulate how) {
  adjoint_of_groups<T>(map, ring_weights, alm, how, map);
}

/// In groups the first has its a_lm before the last one has used its pixels.
template <class T>
AlmBuffer<T> SphericalHarmonicTransform::adjoint_holding_both(
    MapBuffer<T>&& map, std::span<const double> ring_weights) {
  auto alm = agreed(comm_, [&] {
    require_map(map.n_components(), map.size());
    return make_alm<T>();
  });
  adjoint_destroying<T>(map.view(), ring_weights, alm.view());
  map.release();
  return alm;
}

template <class T>
AlmBuffer<T> SphericalHarmonicTransform::adjoint_in_passes(MapBuffer<T>&& map,
                                                           std::span<const double> ring_weights) {
  Stages& stages = stages_.front();
  ModeView<double> by_ring;
  agree(comm_, [&] {
    require_map(map.n_components(), map.size());
    by_ring = ring_modes(stages);
    fft_adjoint<T>(stages, std::as_const(map).view(), ring_weights, by_ring);
  });
  map.release();
  LegendrePasses& passes = *stages.passes;
  ModeView<double> slots;
  auto alm = agreed(comm_, [&] {
    slots = order_modes(passes.slot_positions(), stages.n_components());
    passes.allocate();
    return make_alm<T>();
  });
  passes.adjoint<T>(by_ring, slots, alm.view(), Accumulate::overwrite, times_);
  return alm;
}

template <class T>
AlmBuffer<T> SphericalHarmonicTransform::adjoint(MapBuffer<T>&& map,
                                                 std::span<const double> ring_weights) {
  if (holds_both()) return adjoint_holding_both<T>(std::move(map), ring_weights);
  if (plan_.always_in_passes()) return adjoint_in_passes<T>(std::move(map), ring_weights);
  Stages& stages = stages_.front();
  AlmBuffer<T> alm;
  ModeView<double> by_order;
  ModeView<double> by_ring;
  agree(comm_, [&] {
    require_map(map.n_components(), map.size());
    by_ring = ring_modes(stages);
    by_order = whole_order_modes_within(stages, map.view());
    fft_adjoint<T>(stages, std::as_const(map).view(), ring_weights, by_ring);
  });
  rings_to_orders(stages, by_ring, by_order);
  agree(comm_, [&] {
    if (alone()) {
      map.release();
    } else {
      ring_modes_.release();
    }
    alm = make_alm<T>();
  });
  finish([&] { legendre_adjoint<T>(stages, by_order, alm.view(), Accumulate::overwrite); });
  map.release();
  return alm;
}

bool SphericalHarmonicTransform::has_spectra() const {
  return std::all_of(stages_.begin(), stages_.end(),
                     [](const Stages& stages) { return stages.ring_fft->spectra() != nullptr; }) &&
         !stages_.empty();
}

template <class T>
void SphericalHarmonicTransform::to_spectra(MapView<T> map) {
  agree(comm_, [&] { require_map(map.n_components(), map.size()); });
  for (const FieldGroup& group : plan_.groups) {
    const StageTimer timer(&times_, "ring_fft");
    stages_of(group).ring_fft->spectra()->take(group.of(map));
  }
}

template <class T, class Work>
void SphericalHarmonicTransform::apply_on_spectra(const AlmView<const T>* alm, AlmView<T> result,
                                                  Accumulate how, const Work& work) {
  for (const FieldGroup& group : plan_.groups) {
    Stages& stages = stages_of(group);
    LegendrePasses* const passes = alone() ? nullptr : &passes_beside_map(stages);
    ModeView<double> by_ring;
    ModeView<double> slots;
    agree(comm_, [&] {
      by_ring = ring_modes(stages);
      if (passes != nullptr) {
        passes->allocate();
        slots = order_modes(passes->slot_positions(), stages.n_components());
      } else if (alm != nullptr) {
        legendre_synthesize<T>(stages, group.of(*alm), by_ring);
      }
    });
    if (alm != nullptr) {
      if (passes == nullptr) {
        round_alone(stages, by_ring);
      } else {
        passes->synthesize<T>(group.of(*alm), by_ring, slots, times_);
      }
    }
    agree(comm_, [&] {
      const StageTimer timer(&times_, "ring_fft");
      work(*stages.ring_fft->spectra(), group, by_ring);
    });
    if (passes == nullptr) {
      round_alone(stages, by_ring);
      legendre_adjoint<T>(stages, by_ring, group.of(result), how);
    } else {
      passes->adjoint<T>(by_ring, slots, group.of(result), how, times_);
    }
  }
}

template <class T>
void SphericalHarmonicTransform::adjoint_of_spectra(MapView<const T> spectra,
                                                    std::span<const double> ring_weights,
                                                    AlmView<T> alm) {
  agree(comm_, [&] { require_shapes<T>(alm, spectra); });
  apply_on_spectra<T>(nullptr, alm, Accumulate::overwrite,
                      [&](RingSpectra& rings, const FieldGroup& group, ModeView<double> modes) {
                        rings.adjoint_of_map(group.of(spectra), ring_weights, modes);
                      });
}

template <class T>
double SphericalHarmonicTransform::adjoint_of_residual(MapView<const T> spectra,
                                                       std::span<const double> ring_weights,
                                                       AlmView<const T> alm, AlmView<T> result,
                                                       Accumulate how) {
  agree(comm_, [&] {
    require_shapes<T>(alm, spectra);
    require_alm(result.n_components(), result.size());
  });
  double squares = 0;
  apply_on_spectra<T>(
      &alm, result, how, [&](RingSpectra& rings, const FieldGroup& group, ModeView<double> modes) {
        squares += rings.adjoint_of_residual(group.of(spectra), ring_weights, modes);
      });
  return comm_.sum(squares);
}

template <class T>
void SphericalHarmonicTransform::adjoint_of_synthesis(std::span<const double> ring_weights,
                                                      AlmView<const T> alm, AlmView<T> result) {
  agree(comm_, [&] {
    require_alm(alm.n_components(), alm.size());
    require_alm(result.n_components(), result.size());
  });
  apply_on_spectra<T>(&alm, result, Accumulate::overwrite,
                      [&](RingSpectra& rings, const FieldGroup&, ModeView<double> modes) {
                        rings.adjoint_of_synthesis(ring_weights, modes);
                      });
}

#define RINGWEAVE_INSTANTIATE(T)                                                                   \
  template void SphericalHarmonicTransform::synthesize(AlmView<const T>, MapView<T>);              \
  template MapBuffer<T> SphericalHarmonicTransform::synthesize(AlmBuffer<T>&&);                    \
  template void SphericalHarmonicTransform::adjoint(MapView<const T>, std::span<const double>,     \
                                                    AlmView<T>, Accumulate);                       \
  template void SphericalHarmonicTransform::to_spectra(MapView<T>);                                \
  template void SphericalHarmonicTransform::adjoint_of_spectra(                                    \
      MapView<const T>, std::span<const double>, AlmView<T>);                                      \
  template double SphericalHarmonicTransform::adjoint_of_residual(                                 \
      MapView<const T>, std::span<const double>, AlmView<const T>, AlmView<T>, Accumulate);        \
  template void SphericalHarmonicTransform::adjoint_of_synthesis<T>(std::span<const double>,       \
                                                                    AlmView<const T>, AlmView<T>); \
  template void SphericalHarmonicTransform::adjoint_destroying(                                    \
      MapView<T>, std::span<const double>, AlmView<T>, Accumulate);                                \
  template AlmBuffer<T> SphericalHarmonicTransform::adjoint(MapBuffer<T>&&,                        \
                                                            std::span<const double>);
RINGWEAVE_INSTANTIATE(float)
RINGWEAVE_INSTANTIATE(double)
#undef RINGWEAVE_INSTANTIATE

}  // namespace ringweave
