// SPDX-License-Identifier: GPL-3.0-or-later
#include "ringweave/lensing.hpp"

#include <omp.h>

#include <cstddef>
#include <utility>

#include "base/checked_cast.hpp"
#include "base/stage_timer.hpp"
#include "distribute/mpi/agree.hpp"
#include "distribute/mpi/same_ranks.hpp"
#include "nonuniform/deflection_data.hpp"
#include "nonuniform/lensing_memory.hpp"
#include "ringweave/error.hpp"

namespace ringweave {

using namespace detail;

namespace {

constexpr const char* where = "lensing";

/// Throws on all ranks where one lacks the memory for what lensing holds. Collective.
void require_memory(const Communicator& comm, const Deflection& deflection, const PointSpec& spec,
                    FrameRotation rotation) {
  const LensingMemory memory = agreed(comm, [&] {
    const LensingProblem problem{spec.checked(), rotation, omp_get_max_threads()};
    return memory_of_lensing(problem, pixels_of_lensing(problem.spec, *deflection.ring_bands()),
                             comm.rank());
  });
  require_memory_of_ranks(comm, memory.peak(), memory.of_threads(),
                          "deflected pixels, fine rows and ring modes");
}

/// Plans the transform to the points that the pixels see. Collective.
PointTransform plan_transform(const Communicator& comm, const Deflection& deflection,
                              const PointSpec& spec, FrameRotation rotation) {
  require_memory(comm, deflection, spec, rotation);
  const std::int64_t n = deflection.rings().n_pixels();
  MapBuffer<double> angles = agreed(comm, [&] { return MapBuffer<double>(2, n); });
  const View<double> theta = angles.view().component(0);
  const View<double> phi = angles.view().component(1);
  deflection.positions(theta, phi);
  const PointSet points(comm, spec, {theta.data(), to_size(n)}, {phi.data(), to_size(n)});
  angles.release();
  return {comm, spec, points};
}

enum class Turn { forward, back };

/// cos and sin of angles, [pixel of a piece].
struct Turns {
  double cosines[DeflectedPixels::most];
  double sines[DeflectedPixels::most];
};

/// Adds the angles of `other`.
void add(Turns& turns, const Turns& other, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const double c = turns.cosines[i];
    const double s = turns.sines[i];
    turns.cosines[i] = c * other.cosines[i] - s * other.sines[i];
    turns.sines[i] = c * other.sines[i] + s * other.cosines[i];
  }
}

/// Multiplies fields of spin s by exp(i s gamma), or by exp(-i s gamma).
template <class T>
void turn_pixels(const FieldSet& fields, Turn turn, const DeflectedPixels& pixels,
                 std::int64_t first, ComponentView<const T> from, ComponentView<T> to) {
  const std::int64_t n = pixels.count;
  Turns once;
  find_rotation(pixels, once.cosines, once.sines);
  if (turn == Turn::back) {
    for (std::int64_t i = 0; i < n; ++i) once.sines[i] = -once.sines[i];
  }
  for (const FieldSet::Field& field : fields.fields()) {
    const T* const q_from = from.component(field.first_component).data() + first;
    T* const q_to = to.component(field.first_component).data() + first;
    if (field.spin == 0) {
      if (q_from != q_to) std::copy_n(q_from, n, q_to);
      continue;
    }
    Turns turns = once;
    for (int s = 1; s < field.spin; ++s) add(turns, once, n);
    const T* const u_from = q_from + from.stride();
    T* const u_to = q_to + to.stride();
    for (std::int64_t i = 0; i < n; ++i) {
      const double q = static_cast<double>(q_from[i]);
      const double u = static_cast<double>(u_from[i]);
      q_to[i] = static_cast<T>(q * turns.cosines[i] - u * turns.sines[i]);
      u_to[i] = static_cast<T>(q * turns.sines[i] + u * turns.cosines[i]);
    }
  }
}

}  // namespace

struct Lensing::Impl {
  Impl(const Communicator& communicator, const Deflection& given, const PointSpec& spec,
       FrameRotation rotation)
      : comm(communicator),
        deflection(given),
        fields(spec.fields),
        transform(plan_transform(comm, deflection, spec, rotation)),
        turns(rotation == FrameRotation::carried && fields.max_spin() > 0) {
    const std::int64_t bytes = checked_product(fields.n_components() * std::int64_t{sizeof(double)},
                                               deflection.rings().n_pixels(), where);
    agree(comm, [&] {
      if (turns) turned.allocate(bytes);
    });
  }

  template <class T>
  void turn(Turn how, ComponentView<const T> from, ComponentView<T> to) {
    const StageTimer timer(&transform.times(), "deflection");
    deflection.impl_->for_each_piece([&](const DeflectedPixels& pixels, std::int64_t first) {
      turn_pixels<T>(fields, how, pixels, first, from, to);
    });
  }

  Communicator comm;
  Deflection deflection;
  FieldSet fields;
  PointTransform transform;
  bool turns;
  HostBuffer<std::byte> turned;  ///< a map of doubles or floats
};

Lensing::Lensing(const Communicator& comm, const Deflection& deflection, const PointSpec& spec,
                 FrameRotation rotation) {
  require_same_ranks(comm, deflection.impl_->comm, "a deflection");
  impl_ = std::make_unique<Impl>(comm, deflection, spec, rotation);
}
Lensing::~Lensing() = default;
Lensing::Lensing(Lensing&&) noexcept = default;
Lensing& Lensing::operator=(Lensing&&) noexcept = default;

const AlmLayout& Lensing::alm_layout() const { return impl_->transform.alm_layout(); }
const LocalRings& Lensing::rings() const { return impl_->deflection.rings(); }
const PointTransform& Lensing::transform() const { return impl_->transform; }
StageTimes& Lensing::times() { return impl_->transform.times(); }
std::int64_t Lensing::bytes() const { return impl_->transform.bytes() + held_bytes(impl_->turned); }
std::int64_t Lensing::n_components() const { return impl_->fields.n_components(); }

template <class T>
void Lensing::lens(AlmView<const T> alm, MapView<T> map) {
  Impl& own = *impl_;
  own.transform.evaluate<T>(alm, map);
  if (own.turns) own.turn<T>(Turn::forward, map, map);
}

template <class T>
void Lensing::adjoint(MapView<const T> map, AlmView<T> alm, Accumulate how) {
  Impl& own = *impl_;
  if (!own.turns) {
    own.transform.adjoint<T>(map, alm, how);
    return;
  }
  agree(own.comm, [&] {
    require_planned(where, map.n_components(), n_components(), "components of a map");
    require_planned(where, map.size(), rings().n_pixels(), "pixels of a component");
  });
  const MapView<T> turned(reinterpret_cast<T*>(own.turned.data()), map.n_components(), map.size());
  own.turn<T>(Turn::back, map, turned);
  own.transform.adjoint<T>(turned, alm, how);
}

template void Lensing::lens(AlmView<const double>, MapView<double>);
template void Lensing::lens(AlmView<const float>, MapView<float>);
template void Lensing::adjoint(MapView<const double>, AlmView<double>, Accumulate);
template void Lensing::adjoint(MapView<const float>, AlmView<float>, Accumulate);

}  // namespace ringweave
