// SPDX-License-Identifier: GPL-3.0-or-later
#include "ringweave/lensing.hpp"

#include <omp.h>

#include <memory>

#include "distribute/mpi/agree.hpp"
#include "distribute/mpi/memory_check.hpp"
#include "distribute/mpi/same_ranks.hpp"
#include "nonuniform/deflected_points.hpp"
#include "nonuniform/deflection_data.hpp"
#include "nonuniform/lensing_memory.hpp"

namespace ringweave {

using namespace detail;

namespace {

/// Throws on all ranks where one lacks the memory for lensing. Collective.
void require_memory(const Communicator& comm, const Deflection& deflection, const PointSpec& spec) {
  const PointMemory memory = agreed(comm, [&] {
    const LensingProblem problem{spec.checked(), deflection.largest(), omp_get_max_threads()};
    return memory_of_lensing(problem, pixels_of_lensing(problem, *deflection.ring_bands()),
                             comm.rank());
  });
  require_memory_of_ranks(comm, memory.total(), memory.of_threads(),
                          "deflected pixels, fine rows and ring modes");
}

}  // namespace

struct Lensing::Impl {
  Impl(const Communicator& comm, const Deflection& given, const PointSpec& spec,
       FrameRotation rotation)
      : deflection(given),
        transform(comm, spec,
                  PointSet(std::make_shared<DeflectedPoints>(comm, deflection, spec, rotation))) {}

  Deflection deflection;
  PointTransform transform;
};

Lensing::Lensing(const Communicator& comm, const Deflection& deflection, const PointSpec& spec,
                 FrameRotation rotation) {
  require_same_ranks(comm, deflection.impl_->comm, "a deflection");
  require_memory(comm, deflection, spec);
  impl_ = std::make_unique<Impl>(comm, deflection, spec, rotation);
}
Lensing::~Lensing() = default;
Lensing::Lensing(Lensing&&) noexcept = default;
Lensing& Lensing::operator=(Lensing&&) noexcept = default;

const AlmLayout& Lensing::alm_layout() const { return impl_->transform.alm_layout(); }
const LocalRings& Lensing::rings() const { return impl_->deflection.rings(); }
const PointTransform& Lensing::transform() const { return impl_->transform; }
StageTimes& Lensing::times() { return impl_->transform.times(); }
std::int64_t Lensing::bytes() const { return impl_->transform.bytes(); }
std::int64_t Lensing::n_components() const { return impl_->transform.points().n_components(); }

template <class T>
void Lensing::lens(AlmView<const T> alm, MapView<T> map) {
  impl_->transform.evaluate<T>(alm, map);
}

template <class T>
void Lensing::adjoint(MapView<const T> map, AlmView<T> alm, Accumulate how) {
  impl_->transform.adjoint<T>(map, alm, how);
}

template void Lensing::lens(AlmView<const double>, MapView<double>);
template void Lensing::lens(AlmView<const float>, MapView<float>);
template void Lensing::adjoint(MapView<const double>, AlmView<double>, Accumulate);
template void Lensing::adjoint(MapView<const float>, AlmView<float>, Accumulate);

}  // namespace ringweave
