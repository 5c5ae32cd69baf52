// SPDX-License-Identifier: GPL-3.0-or-later
#include "transform/spherical_harmonic_transform.hpp"

#include <algorithm>
#include <complex>
#include <utility>

#include "base/checked_cast.hpp"
#include "base/error.hpp"
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
  Stages stages{.fields = fields};
  agree(comm_,
        [&] { stages.ring_fft = make_ring_fft(plan_.ring_fft_shape(fields), plan_.spec.backend); });
  std::vector<std::shared_ptr<LegendrePasses>> made;
  const auto passes = [&](int n_passes) {
    for (const auto& present : made) {
      if (present->n_passes() == n_passes) return present;
    }
    const LegendrePasses* const sharing = made.empty() ? nullptr : made.front().get();
    return made.emplace_back(
        std::make_shared<LegendrePasses>(comm_, plan_, fields, sharing, n_passes));
  };
  stages.within_map = passes(plan_.n_passes_within);
  stages.beside_map = passes(plan_.n_passes);
  stages.consuming = passes(plan_.n_passes_consuming);
  return stages;
}

void SphericalHarmonicTransform::require_alm(std::int64_t n_components, std::int64_t size) const {
  require(n_components, size, fields().n_components(), alm_layout().size(), "alm");
}

void SphericalHarmonicTransform::require_map(std::int64_t n_components, std::int64_t size) const {
  require(n_components, size, fields().n_components(), rings().n_pixels(), "map");
}

void SphericalHarmonicTransform::release_slots(LegendrePasses& passes) noexcept {
  slots_.release();
  passes.release();
}

void SphericalHarmonicTransform::release_workspace() noexcept {
  ring_modes_.release();
  slots_.release();
  if (offloaded_ != nullptr) offloaded_->release();
  for (Stages& stages : stages_) {
    for (const auto& passes : {stages.within_map, stages.beside_map, stages.consuming})
      passes->release();
  }
}

template <class T>
ModePieces<double> SphericalHarmonicTransform::modes_for(LegendrePasses& passes,
                                                         const FieldSet& fields,
                                                         const std::optional<MapView<T>>& map) {
  const std::int64_t ring_positions = plan_.exchange.by_ring.size();
  const std::int64_t most = ring_positions * plan_.n_components_at_once();
  if (ring_modes_.size() != most) ring_modes_.allocate(most);
  passes.allocate();
  const ModeView<double> by_ring(ring_modes_.data(), ring_positions * fields.n_components());

  const std::int64_t n_slots = passes.slot_positions() * fields.n_components();
  if (map.has_value() && map->stride() == map->size()) {
    constexpr std::int64_t mode_bytes = sizeof(std::complex<double>);
    const std::int64_t bytes = map->n_components() * map->size() * std::int64_t{sizeof(T)};
    const auto address = reinterpret_cast<std::uintptr_t>(map->data());
    if (bytes >= n_slots * mode_bytes && address % alignof(std::complex<double>) == 0)
      return {by_ring, {reinterpret_cast<std::complex<double>*>(map->data()), n_slots}};
  }
  const std::int64_t most_slots = passes.slot_positions() * plan_.n_components_at_once();
  if (slots_.size() < most_slots) slots_.allocate(most_slots);
  return {by_ring, {slots_.data(), n_slots}};
}

template <class T>
void SphericalHarmonicTransform::fft_synthesize(Stages& stages, const ModePieces<double>& modes,
                                                MapView<T> map) {
  const auto work = [&] {
    const StageTimer timer(&times_, "ring_fft");
    stages.ring_fft->synthesize(modes.first(), map);
  };
  // The last stage of a call cannot fail on the host; on a device all ranks agree on it.
  plan_.spec.backend == Backend::host ? work() : agree(comm_, work);
}

template <class T>
void SphericalHarmonicTransform::fft_adjoint(Stages& stages, MapView<const T> map,
                                             std::span<const double> ring_weights,
                                             const ModePieces<double>& modes) {
  const StageTimer timer(&times_, "ring_fft");
  stages.ring_fft->adjoint(map, ring_weights, modes.first());
}

template <class T>
void SphericalHarmonicTransform::synthesize(AlmView<const T> alm, MapView<T> map) {
  if (offloaded_ != nullptr) return offloaded_->synthesize<T>(alm, map, times_);
  for (const FieldGroup& group : plan_.groups) {
    Stages& stages = stages_of(group);
    const ModePieces<double> modes = agreed(comm_, [&] {
      require_shapes<T>(alm, map);
      return modes_for<T>(*stages.within_map, stages.fields, group.of(map));
    });
    stages.within_map->synthesize<T>(group.of(alm), modes, times_);
    fft_synthesize<T>(stages, modes, group.of(map));
  }
}

template <class T>
MapBuffer<T> SphericalHarmonicTransform::synthesize(AlmBuffer<T>&& alm) {
  if (needs_both_buffers()) {
    auto map = agreed(comm_, [&] {
      require_alm(alm.n_components(), alm.size());
      return make_map<T>();
    });
    synthesize<T>(std::as_const(alm).view(), map.view());
    alm.release();
    return map;
  }
  Stages& stages = stages_.front();
  const ModePieces<double> modes = agreed(comm_, [&] {
    require_alm(alm.n_components(), alm.size());
    return modes_for<T>(*stages.consuming, stages.fields, std::nullopt);
  });
  stages.consuming->synthesize<T>(std::as_const(alm).view(), modes, times_);
  alm.release();
  release_slots(*stages.consuming);
  auto map = agreed(comm_, [&] { return make_map<T>(); });
  fft_synthesize<T>(stages, modes, map.view());
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
    LegendrePasses& passes = scratch.has_value() ? *stages.within_map : *stages.beside_map;
    const ModePieces<double> modes = agreed(comm_, [&] {
      require_shapes<T>(alm, map);
      const auto memory = scratch.has_value() ? std::optional(group.of(*scratch)) : std::nullopt;
      const ModePieces<double> pieces = modes_for<T>(passes, stages.fields, memory);
      fft_adjoint<T>(stages, group.of(map), ring_weights, pieces);
      return pieces;
    });
    passes.adjoint<T>(modes, group.of(alm), how, times_);
  }
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

template <class T>
AlmBuffer<T> SphericalHarmonicTransform::adjoint(MapBuffer<T>&& map,
                                                 std::span<const double> ring_weights) {
  if (needs_both_buffers()) {
    auto alm = agreed(comm_, [&] {
      require_map(map.n_components(), map.size());
      return make_alm<T>();
    });
    adjoint_destroying<T>(map.view(), ring_weights, alm.view());
    map.release();
    return alm;
  }
  Stages& stages = stages_.front();
  agree(comm_, [&] {
    require_map(map.n_components(), map.size());
    slots_.release();
    stages.consuming->release();
    const std::int64_t size = plan_.exchange.by_ring.size() * fields().n_components();
    if (ring_modes_.size() != size) ring_modes_.allocate(size);
    fft_adjoint<T>(stages, std::as_const(map).view(), ring_weights,
                   ModeView<double>(ring_modes_.data(), size));
  });
  map.release();
  ModePieces<double> modes;
  auto alm = agreed(comm_, [&] {
    modes = modes_for<T>(*stages.consuming, stages.fields, std::nullopt);
    return make_alm<T>();
  });
  stages.consuming->adjoint<T>(modes, alm.view(), Accumulate::overwrite, times_);
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
void SphericalHarmonicTransform::apply_on_spectra(const std::optional<AlmView<const T>>& alm,
                                                  AlmView<T> result, Accumulate how,
                                                  const Work& work) {
  for (const FieldGroup& group : plan_.groups) {
    Stages& stages = stages_of(group);
    LegendrePasses& passes = *stages.beside_map;
    const ModePieces<double> modes =
        agreed(comm_, [&] { return modes_for<T>(passes, stages.fields, std::nullopt); });
    if (alm.has_value()) passes.synthesize<T>(group.of(*alm), modes, times_);
    agree(comm_, [&] {
      const StageTimer timer(&times_, "ring_fft");
      work(*stages.ring_fft->spectra(), group, modes.first());
    });
    passes.adjoint<T>(modes, group.of(result), how, times_);
  }
}

template <class T>
void SphericalHarmonicTransform::adjoint_of_spectra(MapView<const T> spectra,
                                                    std::span<const double> ring_weights,
                                                    AlmView<T> alm) {
  agree(comm_, [&] { require_shapes<T>(alm, spectra); });
  apply_on_spectra<T>(std::nullopt, alm, Accumulate::overwrite,
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
      alm, result, how, [&](RingSpectra& rings, const FieldGroup& group, ModeView<double> modes) {
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
  apply_on_spectra<T>(alm, result, Accumulate::overwrite,
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
