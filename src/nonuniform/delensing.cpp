// SPDX-License-Identifier: GPL-3.0-or-later
#include <omp.h>

#include <memory>
#include <string>
#include <utility>

#include "base/stage_timer.hpp"
#include "distribute/mpi/agree.hpp"
#include "distribute/mpi/memory_check.hpp"
#include "distribute/mpi/same_ranks.hpp"
#include "distribute/order_moves.hpp"
#include "nonuniform/deflected_points.hpp"
#include "nonuniform/deflection_data.hpp"
#include "nonuniform/lensing_memory.hpp"
#include "ringweave/analysis.hpp"
#include "ringweave/error.hpp"
#include "ringweave/lensing.hpp"
#include "ringweave/transform.hpp"
#include "transform/transform_plan.hpp"

namespace ringweave {

using namespace detail;

namespace {

TransformSpec analysis_spec(const Deflection& inverse, const PointSpec& lensed) {
  TransformSpec spec;
  spec.grid = inverse.rings().shared_grid();
  spec.ring_bands = inverse.ring_bands();
  spec.lmax = lensed.lmax;
  spec.mmax = lensed.mmax;
  spec.fields = lensed.fields;
  spec.backend = lensed.backend;
  spec.exchange = lensed.exchange;
  return spec;
}

/// Returns the number of corrections if it is possible and the same on all ranks. Collective.
int agreed_corrections(const Communicator& comm, int n_iter) {
  agree(comm, [&] {
    if (n_iter < 0) {
      throw UsageError("corrections of an analysis: " + std::to_string(n_iter) +
                       "; expected 0 or more");
    }
  });
  agree_same(comm, "the corrections of an analysis", n_iter);
  return n_iter;
}

/// Throws on all ranks where one lacks the memory for delensing. Collective.
void require_memory(const Communicator& comm, const Deflection& inverse,
                    const LensingProblem& problem, const TransformPlan& analysis, int n_iter) {
  const DelensingMemory memory = agreed(comm, [&] {
    LensingProblem checked = problem;
    checked.spec = problem.spec.checked();
    const PixelPoints pixels = pixels_of_lensing(checked, *inverse.ring_bands());
    return memory_of_delensing(memory_of_lensing(checked, pixels, comm.rank()), analysis, n_iter,
                               checked.n_threads);
  });
  require_memory_of_ranks(comm, memory.peak(), memory.of_threads(),
                          "analysis and transform of delensing");
}

}  // namespace

struct Delensing::Impl {
  Impl(const Communicator& communicator, const Deflection& inverse, const PointSpec& spec,
       int corrections, FrameRotation rotation)
      : comm(communicator),
        n_iter(agreed_corrections(comm, corrections)),
        transform(comm, analysis_spec(inverse, spec)),
        analysis(transform, agreed(comm,
                                   [&] {
                                     return AnalysisWeights{ring_weights(inverse.rings()), {}};
                                   })),
        // The transform of a Lensing, with a check of its memory together with that of the
        // analysis.
        points([&] {
          require_memory(comm, inverse, {spec, inverse.largest(), omp_get_max_threads()},
                         transform.plan(), n_iter);
          return PointTransform(
              comm, spec,
              PointSet(std::make_shared<DeflectedPoints>(comm, inverse, spec, rotation)));
        }()) {}

  Communicator comm;
  int n_iter;
  SphericalHarmonicTransform transform;
  Analysis analysis;
  PointTransform points;
};

Delensing::Delensing(const Communicator& comm, const Deflection& inverse, const PointSpec& spec,
                     int n_iter, FrameRotation rotation) {
  require_same_ranks(comm, inverse.impl_->comm, "a deflection");
  impl_ = std::make_unique<Impl>(comm, inverse, spec, n_iter, rotation);
}
Delensing::~Delensing() = default;
Delensing::Delensing(Delensing&&) noexcept = default;
Delensing& Delensing::operator=(Delensing&&) noexcept = default;

const LocalRings& Delensing::rings() const { return impl_->transform.rings(); }
const PointTransform& Delensing::transform() const { return impl_->points; }
StageTimes& Delensing::times() { return impl_->points.times(); }
std::int64_t Delensing::bytes() const { return impl_->points.bytes(); }

template <class T>
void Delensing::delens(MapView<const T> map, MapView<T> delensed) {
  Impl& own = *impl_;
  agree(own.comm, [&] {
    own.transform.require_map(map.n_components(), map.size());
    own.transform.require_map(delensed.n_components(), delensed.size());
  });
  AlmBuffer<T> alm = agreed(own.comm, [&] { return own.points.make_alm<T>(); });
  {
    const StageTimer timer(&times(), "analysis");
    AlmBuffer<T> of_grid = agreed(own.comm, [&] { return own.transform.make_alm<T>(); });
    own.analysis.jacobi<T>(map, own.n_iter, of_grid.view());
    move_orders<T>(own.comm, own.transform.alm_layout(), std::as_const(of_grid).view(),
                   own.points.alm_layout(), alm.view());
  }
  own.points.evaluate<T>(std::as_const(alm).view(), delensed);
}

template void Delensing::delens(MapView<const double>, MapView<double>);
template void Delensing::delens(MapView<const float>, MapView<float>);

}  // namespace ringweave
