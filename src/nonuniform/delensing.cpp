// SPDX-License-Identifier: GPL-3.0-or-later
#include <omp.h>

#include <complex>
#include <memory>
#include <string>
#include <utility>

#include "base/component_update.hpp"
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

/// Returns the memory of a buffer for elements of the same or a smaller type.
template <class Element, class Other>
ComponentView<Element> as_type(ComponentBuffer<Other>& memory) {
  static_assert(sizeof(Element) <= sizeof(Other));
  return {reinterpret_cast<Element*>(memory.view().data()), memory.n_components(), memory.size()};
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
        }()),
        moves(comm, transform.alm_layout(), points.alm_layout(),
              transform.plan().spec.fields.n_components()) {
    agree(comm, [&] {
      analysed = transform.make_alm<double>();
      moved = points.make_alm<double>();
      if (n_iter > 0) residual = transform.make_map<double>();
    });
  }

  /// Computes the a_lm of a map, in the memory of `moved`.
  template <class T>
  AlmView<const T> analyse(MapView<const T> map) {
    const AlmView<T> alm = as_type<std::complex<T>>(analysed);
    if (n_iter > 0) {
      analysis.jacobi_within<T>(map, n_iter, alm, as_type<T>(residual), report);
    } else {
      analysis.jacobi<T>(map, 0, alm);
    }
    const AlmView<T> of_points = as_type<std::complex<T>>(moved);
    moves.move<T>(alm, of_points);
    return of_points;
  }

  Communicator comm;
  int n_iter;
  SphericalHarmonicTransform transform;
  Analysis analysis;
  PointTransform points;
  OrderMoves moves;
  // Memory of calls, for doubles or floats.
  AlmBuffer<double> analysed;  ///< as the analysis has its orders
  AlmBuffer<double> moved;     ///< as the transform to pixels does
  MapBuffer<double> residual;  ///< empty without corrections
  AnalysisReport report;
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
std::int64_t Delensing::bytes() const {
  return impl_->points.bytes() + impl_->analysed.bytes() + impl_->moved.bytes() +
         impl_->residual.bytes();
}

template <class T>
void Delensing::delens(MapView<const T> map, MapView<T> delensed) {
  Impl& own = *impl_;
  agree(own.comm, [&] {
    own.transform.require_map(map.n_components(), map.size());
    own.transform.require_map(delensed.n_components(), delensed.size());
  });
  const AlmView<const T> alm = [&] {
    const StageTimer timer(&times(), "analysis");
    return own.analyse<T>(map);
  }();
  own.points.evaluate<T>(alm, delensed);
}

template void Delensing::delens(MapView<const double>, MapView<double>);
template void Delensing::delens(MapView<const float>, MapView<float>);

}  // namespace ringweave
