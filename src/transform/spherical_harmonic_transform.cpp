// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <complex>
#include <optional>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/mode_view.hpp"
#include "distribute/mpi/agree.hpp"
#include "ringweave/error.hpp"
#include "ringweave/execution.hpp"
#include "ringweave/transform.hpp"
#include "transform/device_budget.hpp"
#include "transform/device_memory_plan.hpp"
#include "transform/host_pipeline.hpp"
#include "transform/offloaded_transform.hpp"
#include "transform/transform_plan.hpp"

namespace ringweave {

using namespace detail;

namespace {

using Modes = HostStages::Modes;

constexpr const char* harmonic_transform = "spherical harmonic transform";

}  // namespace

struct SphericalHarmonicTransform::Impl {
  /// Pipelines for the fields of a group. Those with equal numbers of passes are one object; all
  /// share Legendre tables and the ring FFT.
  struct Pipelines {
    FieldSet fields;
    std::shared_ptr<HostPipeline> within_map{};  ///< slots in the map's memory if they fit it
    std::shared_ptr<HostPipeline> beside_map{};  ///< slots outside the map, which is kept
    std::shared_ptr<HostPipeline> consuming{};   ///< slots before the map exists or once freed
    RingFft& ring_fft() const { return within_map->stages().ring_fft(); }
  };

  Communicator comm;
  TransformPlan plan;
  std::vector<Pipelines> pipelines;  ///< [shape of a group]
  // Large enough for any group.
  HostBuffer<std::complex<double>> ring_modes{};
  HostBuffer<std::complex<double>> slots{};
  StageTimes times{};
  std::optional<DeviceBudget> device{};
  std::unique_ptr<OffloadedTransform> offloaded{};  ///< replaces pipelines

  Impl(const Communicator& c, const TransformSpec& spec)
      : comm(c), plan(agreed(comm, [&] { return TransformPlan(spec, comm.rank(), comm.size()); })) {
    agree_same(comm, "the transform (grid, lmax, mmax, fields, options)", spec.digest());
    if (spec.backend == Backend::cuda) plan_offloaded();
    if (offloaded != nullptr) return;
    for (const FieldSet& fields : fields_of_shapes(plan.groups))
      pipelines.push_back(plan_pipelines(fields));
  }

  void plan_offloaded() {
    device = share_device(comm, plan);
    plan.copying_stage_bytes =
        copying_stage_bytes(*device, plan.is_mixed() ? 1 : 2, plan.n_group_shapes());
    if (plan.spec.data == MemorySpace::device) {
      if (!device->on_device())
        throw ResourceError(device->reason + "; use more ranks, or keep a_lm and maps on the host");
      offloaded = std::make_unique<OffloadedTransform>(comm, plan);
      return;
    }
    if (device->on_device()) {
      try {
        offloaded = std::make_unique<OffloadedTransform>(comm, plan);
        return;
      } catch (const ResourceError& error) {
        // Other programs may have taken the memory meanwhile. The stages report a broken device.
        device->reason = error.what();
      }
    }
    device->planned = agreed(comm, [&] { return plan_device_blocks(plan); });
  }

  Pipelines plan_pipelines(const FieldSet& fields) {
    const std::shared_ptr<RingFft> ring_fft = agreed(
        comm, [&] { return make_ring_fft(plan.ring_fft_shape(fields), plan.ring_fft_backend()); });
    std::vector<std::shared_ptr<HostPipeline>> made;
    const auto pipeline = [&](int n_passes) {
      for (const auto& present : made) {
        if (ssize64(present->passes().passes) == n_passes) return present;
      }
      const LegendreStage* present = made.empty() ? nullptr : &made.front()->stages().legendre();
      return made.emplace_back(
          plan_host_pipeline(comm, plan, n_passes, {fields, ring_fft, present, &times}));
    };
    Pipelines planned{.fields = fields};
    planned.within_map = pipeline(plan.n_passes_within);
    planned.beside_map = pipeline(plan.n_passes);
    planned.consuming = pipeline(plan.n_passes_consuming);
    return planned;
  }

  Pipelines& pipelines_of(const FieldGroup& group) { return pipelines[to_size(group.shape)]; }
  /// Tells whether calls that consume their input hold it until their output is complete.
  bool needs_both_buffers() const { return plan.groups.size() > 1 || offloaded != nullptr; }

  void require_alm(std::int64_t n_components, std::int64_t size) const {
    require_planned(harmonic_transform, n_components, plan.spec.fields.n_components(),
                    "components of a_lm");
    require_planned(harmonic_transform, size, plan.alm.size(), "coefficients of a component");
  }
  void require_map(std::int64_t n_components, std::int64_t size) const {
    require_planned(harmonic_transform, n_components, plan.spec.fields.n_components(),
                    "components of a map");
    require_planned(harmonic_transform, size, plan.rings.n_pixels(), "pixels of a component");
  }
  void require_weights(std::span<const double> ring_weights) const {
    if (ring_weights.empty()) return;
    require_planned("transform", ssize64(ring_weights), plan.rings.n_rings(), "weights of rings");
  }
  template <class T>
  void require_shapes(AlmView<const T> alm, MapView<const T> map) const {
    require_alm(alm.n_components(), alm.size());
    require_map(map.n_components(), map.size());
  }

  ModeView<double> modes_by_ring(const FieldSet& fields) {
    const std::int64_t positions = plan.exchange.by_ring.size();
    const std::int64_t most = positions * plan.n_components_at_once();
    if (ring_modes.size() != most) ring_modes.allocate(most);
    return {ring_modes.data(), positions * fields.n_components()};
  }

  /// Returns the workspace of a group: modes by ring, and slots in the memory of `map` if it is
  /// given and large enough.
  template <class T>
  Modes modes_for(HostPipeline& pipeline, const FieldSet& fields,
                  const std::optional<MapView<T>>& map) {
    const ModeView<double> by_ring = modes_by_ring(fields);
    pipeline.allocate();
    const std::int64_t slot_positions = pipeline.passes().all_slots();
    const std::int64_t n_slots = slot_positions * fields.n_components();
    if (map.has_value() && map->stride() == map->size()) {
      constexpr std::int64_t mode_bytes = sizeof(std::complex<double>);
      const std::int64_t bytes = map->n_components() * map->size() * std::int64_t{sizeof(T)};
      const auto address = reinterpret_cast<std::uintptr_t>(map->data());
      if (bytes >= n_slots * mode_bytes && address % alignof(std::complex<double>) == 0)
        return {by_ring, {reinterpret_cast<std::complex<double>*>(map->data()), n_slots}};
    }
    const std::int64_t most_slots = slot_positions * plan.n_components_at_once();
    if (slots.size() < most_slots) slots.allocate(most_slots);
    return {by_ring, {slots.data(), n_slots}};
  }
  void release_slots(HostPipeline& pipeline) noexcept {
    slots.release();
    pipeline.release();
  }

  /// Runs one group after the other. `scratch` is the map itself where its content may be lost.
  template <class T>
  void adjoint(MapView<const T> map, std::span<const double> ring_weights, AlmView<T> alm,
               Accumulate how, const std::optional<MapView<T>>& scratch) {
    if (offloaded != nullptr) return offloaded->adjoint<T>(map, ring_weights, alm, how, times);
    for (const FieldGroup& group : plan.groups) {
      Pipelines& of_group = pipelines_of(group);
      HostPipeline& pipeline = scratch ? *of_group.within_map : *of_group.beside_map;
      const Modes modes = agreed(comm, [&] {
        require_shapes<T>(alm, map);
        require_weights(ring_weights);
        const auto memory = scratch ? std::optional(group.of(*scratch)) : std::nullopt;
        return modes_for<T>(pipeline, of_group.fields, memory);
      });
      pipeline.adjoint<T>(group.of(map), ring_weights, modes, group.of(alm), how);
    }
  }

  /// The transform of data on a device. Error  UsageError where they are on the host.
  OffloadedTransform& on_device() const {
    if (plan.spec.data == MemorySpace::device) return *offloaded;
    throw UsageError(
        "views of a device's memory: this transform was planned for data on the host; set data to "
        "MemorySpace::device in its TransformSpec");
  }

  bool has_spectra() const {
    return !pipelines.empty() &&
           std::all_of(pipelines.begin(), pipelines.end(), [](const Pipelines& of_group) {
             return of_group.ring_fft().spectra() != nullptr;
           });
  }
  void require_spectra() const {
    if (has_spectra()) return;
    throw UsageError("a transform on a device has no spectra of rings; ask has_spectra() first");
  }

  /// Synthesizes for each group modes by ring (if a_lm are given), runs work(spectra of its rings,
  /// group, modes by ring), and applies the adjoint to the result.
  template <class T, class Work>
  void apply_on_spectra(const std::optional<AlmView<const T>>& alm, AlmView<T> result,
                        Accumulate how, const Work& work) {
    for (const FieldGroup& group : plan.groups) {
      Pipelines& of_group = pipelines_of(group);
      HostPipeline& pipeline = *of_group.beside_map;
      const Modes modes =
          agreed(comm, [&] { return modes_for<T>(pipeline, of_group.fields, std::nullopt); });
      if (alm.has_value()) pipeline.orders_to_rings<T>(group.of(*alm), modes);
      agree(comm, [&] {
        const StageTimer timer(&times, "ring_fft");
        work(*of_group.ring_fft().spectra(), group, modes.first());
      });
      pipeline.rings_to_orders<T>(modes, group.of(result), how);
    }
  }
};

SphericalHarmonicTransform::SphericalHarmonicTransform(const Communicator& comm,
                                                       const TransformSpec& spec)
    : impl_(std::make_unique<Impl>(comm, spec)) {}
SphericalHarmonicTransform::~SphericalHarmonicTransform() = default;
SphericalHarmonicTransform::SphericalHarmonicTransform(SphericalHarmonicTransform&&) noexcept =
    default;
SphericalHarmonicTransform& SphericalHarmonicTransform::operator=(
    SphericalHarmonicTransform&&) noexcept = default;

const TransformSpec& SphericalHarmonicTransform::spec() const { return impl_->plan.spec; }
const TransformPlan& SphericalHarmonicTransform::plan() const { return impl_->plan; }
const AlmLayout& SphericalHarmonicTransform::alm_layout() const { return impl_->plan.alm; }
const LocalRings& SphericalHarmonicTransform::rings() const { return impl_->plan.rings; }
const FieldSet& SphericalHarmonicTransform::fields() const { return impl_->plan.spec.fields; }
const Communicator& SphericalHarmonicTransform::comm() const { return impl_->comm; }
StageTimes& SphericalHarmonicTransform::times() { return impl_->times; }
const DeviceBudget* SphericalHarmonicTransform::device() const {
  return impl_->device ? &*impl_->device : nullptr;
}
const OffloadedTransform* SphericalHarmonicTransform::offloaded() const {
  return impl_->offloaded.get();
}

void SphericalHarmonicTransform::require_alm(std::int64_t n_components, std::int64_t size) const {
  impl_->require_alm(n_components, size);
}

void SphericalHarmonicTransform::require_map(std::int64_t n_components, std::int64_t size) const {
  impl_->require_map(n_components, size);
}

void SphericalHarmonicTransform::release_workspace() noexcept {
  impl_->ring_modes.release();
  impl_->slots.release();
  if (impl_->offloaded != nullptr) impl_->offloaded->release();
  for (Impl::Pipelines& of_group : impl_->pipelines) {
    for (const auto& pipeline : {of_group.within_map, of_group.beside_map, of_group.consuming})
      pipeline->release();
  }
}

template <class T>
void SphericalHarmonicTransform::synthesize(AlmView<const T> alm, MapView<T> map) {
  Impl& own = *impl_;
  if (own.offloaded != nullptr) return own.offloaded->synthesize<T>(alm, map, own.times);
  for (const FieldGroup& group : own.plan.groups) {
    Impl::Pipelines& of_group = own.pipelines_of(group);
    HostPipeline& pipeline = *of_group.within_map;
    const Modes modes = agreed(own.comm, [&] {
      own.require_shapes<T>(alm, map);
      return own.modes_for<T>(pipeline, of_group.fields, group.of(map));
    });
    pipeline.synthesize<T>(group.of(alm), modes, group.of(map));
  }
}

template <class T>
void SphericalHarmonicTransform::synthesize(AlmView<const T, MemorySpace::device> alm,
                                            MapView<T, MemorySpace::device> map) {
  impl_->on_device().synthesize<T>(alm, map, impl_->times);
}

template <class T>
MapBuffer<T> SphericalHarmonicTransform::synthesize(AlmBuffer<T>&& alm) {
  Impl& own = *impl_;
  if (own.needs_both_buffers()) {
    auto map = agreed(own.comm, [&] {
      own.require_alm(alm.n_components(), alm.size());
      return make_map<T>();
    });
    synthesize<T>(std::as_const(alm).view(), map.view());
    alm.release();
    return map;
  }
  HostPipeline& pipeline = *own.pipelines.front().consuming;
  const Modes modes = agreed(own.comm, [&] {
    own.require_alm(alm.n_components(), alm.size());
    return own.modes_for<T>(pipeline, fields(), std::nullopt);
  });
  pipeline.orders_to_rings<T>(std::as_const(alm).view(), modes);
  alm.release();
  own.release_slots(pipeline);
  auto map = agreed(own.comm, [&] { return make_map<T>(); });
  pipeline.to_pixels<T>(modes, map.view());
  return map;
}

template <class T>
void SphericalHarmonicTransform::adjoint(MapView<const T> map, std::span<const double> ring_weights,
                                         AlmView<T> alm, Accumulate how) {
  impl_->adjoint<T>(map, ring_weights, alm, how, std::nullopt);
}

template <class T>
void SphericalHarmonicTransform::adjoint(MapView<const T, MemorySpace::device> map,
                                         View<const double, MemorySpace::device> ring_weights,
                                         AlmView<T, MemorySpace::device> alm, Accumulate how) {
  impl_->on_device().adjoint<T>(map, ring_weights, alm, how, impl_->times);
}

template <class T>
void SphericalHarmonicTransform::adjoint_destroying(MapView<T> map,
                                                    std::span<const double> ring_weights,
                                                    AlmView<T> alm, Accumulate how) {
  impl_->adjoint<T>(map, ring_weights, alm, how, map);
}

template <class T>
AlmBuffer<T> SphericalHarmonicTransform::adjoint(MapBuffer<T>&& map,
                                                 std::span<const double> ring_weights) {
  Impl& own = *impl_;
  if (own.needs_both_buffers()) {
    auto alm = agreed(own.comm, [&] {
      own.require_map(map.n_components(), map.size());
      return make_alm<T>();
    });
    adjoint_destroying<T>(map.view(), ring_weights, alm.view());
    map.release();
    return alm;
  }
  HostPipeline& pipeline = *own.pipelines.front().consuming;
  agree(own.comm, [&] {
    own.require_map(map.n_components(), map.size());
    own.require_weights(ring_weights);
    own.release_slots(pipeline);
    own.modes_by_ring(fields());
  });
  pipeline.to_modes<T>(std::as_const(map).view(), ring_weights, own.modes_by_ring(fields()));
  map.release();
  Modes modes;
  auto alm = agreed(own.comm, [&] {
    modes = own.modes_for<T>(pipeline, fields(), std::nullopt);
    return make_alm<T>();
  });
  pipeline.rings_to_orders<T>(modes, alm.view(), Accumulate::overwrite);
  return alm;
}

bool SphericalHarmonicTransform::has_spectra() const { return impl_->has_spectra(); }

template <class T>
void SphericalHarmonicTransform::to_spectra(MapView<T> map) {
  agree(impl_->comm, [&] {
    impl_->require_spectra();
    require_map(map.n_components(), map.size());
  });
  for (const FieldGroup& group : impl_->plan.groups) {
    const StageTimer timer(&impl_->times, "ring_fft");
    impl_->pipelines_of(group).ring_fft().spectra()->from_pixels(group.of(map));
  }
}

template <class T>
void SphericalHarmonicTransform::adjoint_of_spectra(MapView<const T> spectra,
                                                    std::span<const double> ring_weights,
                                                    AlmView<T> alm) {
  agree(impl_->comm, [&] {
    impl_->require_spectra();
    impl_->require_shapes<T>(alm, spectra);
  });
  impl_->apply_on_spectra<T>(
      std::nullopt, alm, Accumulate::overwrite,
      [&](RingSpectra& rings, const FieldGroup& group, ModeView<double> modes) {
        rings.apply(SpectrumOperator::adjoint_of_map, group.of(spectra), ring_weights, modes);
      });
}

template <class T>
double SphericalHarmonicTransform::adjoint_of_residual(MapView<const T> spectra,
                                                       std::span<const double> ring_weights,
                                                       AlmView<const T> alm, AlmView<T> result,
                                                       Accumulate how) {
  agree(impl_->comm, [&] {
    impl_->require_spectra();
    impl_->require_shapes<T>(alm, spectra);
    require_alm(result.n_components(), result.size());
  });
  double squares = 0;
  impl_->apply_on_spectra<T>(
      alm, result, how, [&](RingSpectra& rings, const FieldGroup& group, ModeView<double> modes) {
        squares += rings.apply(SpectrumOperator::adjoint_of_residual, group.of(spectra),
                               ring_weights, modes);
      });
  return impl_->comm.sum(squares);
}

template <class T>
void SphericalHarmonicTransform::adjoint_of_synthesis(std::span<const double> ring_weights,
                                                      AlmView<const T> alm, AlmView<T> result) {
  agree(impl_->comm, [&] {
    impl_->require_spectra();
    require_alm(alm.n_components(), alm.size());
    require_alm(result.n_components(), result.size());
  });
  impl_->apply_on_spectra<T>(alm, result, Accumulate::overwrite,
                             [&](RingSpectra& rings, const FieldGroup&, ModeView<double> modes) {
                               rings.apply(SpectrumOperator::adjoint_of_synthesis, {}, ring_weights,
                                           modes);
                             });
}

#define RINGWEAVE_INSTANTIATE(T)                                                                   \
  template void SphericalHarmonicTransform::synthesize(AlmView<const T>, MapView<T>);              \
  template void SphericalHarmonicTransform::synthesize(AlmView<const T, MemorySpace::device>,      \
                                                       MapView<T, MemorySpace::device>);           \
  template void SphericalHarmonicTransform::adjoint(MapView<const T, MemorySpace::device>,         \
                                                    View<const double, MemorySpace::device>,       \
                                                    AlmView<T, MemorySpace::device>, Accumulate);  \
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
